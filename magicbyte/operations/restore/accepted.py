"""The kinds of faults and losses that a user may accept by `--accept`."""

from __future__ import annotations

from collections.abc import Mapping

from magicbyte.kit.failure import Failure
from magicbyte.operations.restore.faults import FAULTS
from magicbyte.operations.restore.plan import LOSSES

#: Name -> what is accepted by it.
ACCEPTABLE: Mapping[str, str] = {**FAULTS, **LOSSES}


def parse_accepted(text: str) -> frozenset[str]:
    """Read the names of `--accept`, with commas between.

    Raises:
        Failure: There is no such name.
    """
    names = frozenset(name.strip() for name in text.split(",") if name.strip())
    unknown = sorted(names - ACCEPTABLE.keys())
    if unknown:
        raise Failure(f"--accept {unknown[0]}: there is {', '.join(ACCEPTABLE)}")
    return names
