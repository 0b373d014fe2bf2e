"""Errors that stop an operation, besides a `Failure` that the user's files or arguments caused."""

from __future__ import annotations

from magicbyte.kit.failure import Failure


class Unreachable(Failure):
    """A registry, a broker or a database does not answer, or refuses the client; commands exit with 3."""


class Refused(Unreachable):
    """A registry refuses the client: its credentials are wrong, or it has too few rights."""


class Withheld(Unreachable):
    """A registry or a file does not have everything, because a part was hidden from the user who read it."""


class Unreadable(Failure):
    """A file is cut, was changed, or is of no form that is known; nothing of it is used."""
