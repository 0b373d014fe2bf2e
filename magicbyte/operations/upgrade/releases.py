"""Changes in releases that an upgrade can meet: settings, and types of records; CHANGELOG.md has the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from magicbyte import __version__
from magicbyte.kit.failure import Failure
from registry.state import records

Release = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SettingChange:
    """A setting that a release treats otherwise than the one before it.

    Attributes:
        server: The server, such as `registry`.
        name: The setting's name before.
        release: The release that changes it.
        change: What changes, as a sentence.
        remedy: What to do.
    """

    server: str
    name: str
    release: str
    change: str
    remedy: str


#: All changes of settings since the first release: a release that renames or removes a setting adds a row.
SETTING_CHANGES: tuple[SettingChange, ...] = ()

#: Type of a record's key -> the release that reads it first. An earlier release passes such records over.
KEY_TYPES: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(
        (
            records.SCHEMA,
            records.CONFIG,
            records.MODE,
            records.CONTEXT,
            records.DELETE_SUBJECT,
            records.CLEAR_SUBJECT,
            records.NOOP,
            records.ID_MARK,
            records.SETTLED,
            records.POSTED,
            records.RULE,
            records.RULE_SET,
            records.MIRROR,
        ),
        "0.2.0",
    )
)


def release_of(text: str) -> Release:
    """The numbers of a release.

    Raises:
        Failure: The text is no release.
    """
    try:
        numbers = tuple(int(part) for part in text.removeprefix("v").split("."))
    except ValueError:
        numbers = ()
    if len(numbers) not in (2, 3) or min(numbers) < 0:
        raise Failure(f"{text!r} is no release; write it as {__version__}")
    return (*numbers, 0)[:3]


#: The release of this program.
THIS_RELEASE = release_of(__version__)
