"""The users file: names, hashes and options."""

from __future__ import annotations

import logging
import stat
import time
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from magicbyte.kit.failure import Failure
from magicbyte.security.principal import Network, lies_in, parse_networks
from magicbyte.security.sign_in.password_hash import PasswordHash, parse_hash

log = logging.getLogger("magicbyte.security")

_KEYS = ("principal", "groups", "expires", "disabled", "from")
_MAX_NAME = 255


class UsersFileError(Failure):
    """A users file that cannot be used; the text names file and line, and does not quote a hash."""


@dataclass(frozen=True, slots=True)
class User:
    """One line of a users file.

    Attributes:
        name: The user name in Basic credentials.
        principal: `User:<name>`.
        groups: `Group:<name>` of each group.
        hash: The hash of the secret.
        expires: The expiry in seconds since 1970, or None.
        networks: The networks from which the user may connect; empty for all.
        is_disabled: Whether sign-in under this name is disabled.
    """

    name: str
    principal: str
    hash: PasswordHash
    groups: frozenset[str] = frozenset()
    expires: float | None = None
    networks: tuple[Network, ...] = ()
    is_disabled: bool = False

    def may_sign_in(self, address: str) -> bool:
        """Tell whether the right password signs the user in now, from an address."""
        if self.is_disabled or (self.expires is not None and time.time() >= self.expires):
            return False
        return not self.networks or lies_in(address, self.networks)


def load_users(paths: Sequence[Path]) -> dict[str, User]:
    """Read users files.

    Raises:
        UsersFileError: A file cannot be read, is empty, is writable by others, or has a malformed line.
    """
    users: dict[str, User] = {}
    for path in paths:
        lines = read_lines(path)
        if not lines:
            # An empty file is more likely truncated than intended: nobody could sign in.
            raise UsersFileError(f"{path} is empty; if it is to have no users, write a comment line")
        for number, line in enumerate(lines, start=1):
            if not line.strip() or line.startswith("#"):
                continue
            try:
                user = parse_user(line)
            except ValueError as error:
                raise UsersFileError(f"{path}, line {number}: {error}") from None
            if user.name in users:
                raise UsersFileError(f"{path}, line {number}: {user.name} has another line already")
            users[user.name] = user
    return users


def read_lines(path: Path) -> list[str]:
    """Read the lines of a file that only its owner may write.

    Raises:
        UsersFileError: It cannot be read, or its group or others may write it.
    """
    try:
        mode = path.stat().st_mode
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsersFileError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsersFileError(f"{path} is no UTF-8 text") from None
    if mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise UsersFileError(f"{path} may be written by others than its owner; chmod 600 it")
    if mode & stat.S_IROTH:
        log.warning(
            "%s may be read by everybody on this machine; chmod 600 it",
            path,
            extra={"event": "users_file_readable", "file": str(path)},
        )
    return text.splitlines()


def parse_user(line: str) -> User:
    """Parse `name:hash[:key=value;key=value]`.

    Raises:
        ValueError: The line is malformed; the text does not quote the hash.
    """
    name, colon, rest = line.strip().partition(":")
    if not colon:
        raise ValueError("write name:hash")
    check_name(name)
    hash_text, _, options_text = rest.partition(":")
    try:
        password_hash = parse_hash(hash_text)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    return _user(name, password_hash, parse_options(name, options_text))


def parse_options(name: str, text: str) -> dict[str, str]:
    """Parse `key=value;key=value`.

    Raises:
        ValueError: A key is unknown or repeated.
    """
    options: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in text.split(";"))):
        key, equals, value = part.partition("=")
        if key not in _KEYS or key in options:
            raise ValueError(f"{name}: {key!r} is unknown or stands twice; the keys are {', '.join(_KEYS)}")
        options[key] = value if equals else "true"
    return options


def check_name(name: str) -> None:
    """Check a user's name.

    Raises:
        ValueError: It is empty, too long, not in NFC, or has a colon or a control character.
    """
    if not 1 <= len(name) <= _MAX_NAME:
        raise ValueError(f"a name has 1 to {_MAX_NAME} characters")
    if ":" in name or any(unicodedata.category(character) == "Cc" for character in name):
        raise ValueError("a name has no colon and no control character")
    if not unicodedata.is_normalized("NFC", name) or name != name.strip():
        raise ValueError("a name is in Unicode's form NFC, without spaces around it")


def _user(name: str, password_hash: PasswordHash, options: Mapping[str, str]) -> User:
    principal = options.get("principal", f"User:{name}")
    if not principal.startswith("User:") or len(principal) == len("User:"):
        raise ValueError(f"{name}: the principal must be User: and a name")
    groups = filter(None, (group.strip() for group in options.get("groups", "").split(",")))
    return User(
        name,
        principal,
        password_hash,
        frozenset(f"Group:{group}" for group in groups),
        parse_expiry(name, options["expires"]) if "expires" in options else None,
        parse_networks(options.get("from", "")),
        is_disabled=_flag(name, options.get("disabled", "false")),
    )


def parse_expiry(name: str, text: str) -> float:
    """Parse an RFC 3339 time with a zone; returns seconds since 1970.

    Raises:
        ValueError: The text is not such a time.
    """
    try:
        expiry = datetime.fromisoformat(text)
    except ValueError:
        expiry = None
    if expiry is None or expiry.tzinfo is None:
        raise ValueError(f"{name}: expires is no time such as 2027-01-31T00:00:00Z")
    return expiry.timestamp()


def _flag(name: str, text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError(f"{name}: disabled is true or false")
    return text == "true"
