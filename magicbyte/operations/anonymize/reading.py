"""Anonymous readings for `backup --anonymize`, which do not name their source, and the file of the tokens' key."""

from __future__ import annotations

from pathlib import Path

from magicbyte.kit.failure import Failure
from magicbyte.kit.plural import plural
from magicbyte.operations.anonymize.anonymize import anonymize
from magicbyte.operations.anonymize.tokens import LEAST_KEY_BYTES
from magicbyte.operations.sources.port import Origin, Reading

_MOST_KEY_BYTES = 4096


def anonymous_reading(reading: Reading, key: bytes) -> Reading:
    """A reading with an anonymous state, and without the names of its source and of clusters.

    Args:
        reading: The reading.
        key: The key of the tokens, of at least 16 bytes.
    """
    anonymized = anonymize(reading.state, key)
    origin = reading.origin
    # The notes of a source may name subjects.
    notes = (f"the state is anonymous; the reading had {plural(len(reading.notes), 'note')}", *anonymized.notes)
    return Reading(
        anonymized.state, Origin("anonymous", origin.vendor, origin.version, origin.offset, {}, origin.defaults), notes
    )


def read_key(path: Path) -> bytes:
    """Read the key of the tokens from a file; line breaks at its end do not count.

    Raises:
        Failure: It cannot be read, or is too short for a key, or too long.
    """
    make_one = f"make one with: openssl rand -hex 32 > {path}"
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_KEY_BYTES + 1)
    except FileNotFoundError:
        raise Failure(f"there is no key file {path}; {make_one}") from None
    except OSError as error:
        raise Failure(f"the key file {path} cannot be read: {error.strerror}") from None
    key = content.rstrip(b"\r\n")
    if not LEAST_KEY_BYTES <= len(key) <= _MOST_KEY_BYTES:
        raise Failure(
            f"the key file {path} has {len(key)} bytes; a key has {LEAST_KEY_BYTES} to {_MOST_KEY_BYTES}; {make_one}"
        )
    return key
