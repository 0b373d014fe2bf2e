"""All settings of a server or a client as rows, from which each form of the reference is written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pydantic.fields import FieldInfo

from magicbyte.kit.secret import Secret, is_secret
from magicbyte.kit.settings.generated import default_text
from magicbyte.kit.settings.property_words import annotations_of, words
from magicbyte.kit.settings.section import Section, Setting, settings_of
from magicbyte.kit.settings.server import FIRST_RELEASE, Reloaded, ServerSettings, Since
from magicbyte.kit.settings.server_reference import default_words, own_properties, without_effect_of, written

#: A default that is a text, perhaps with the same in another unit.
_LITERAL = re.compile(r"`([^`]*)`(?: \(\d+ \w+\))?")


@dataclass(frozen=True, slots=True)
class Row:
    """A setting.

    Attributes:
        name: Its name.
        takes: What it takes, with its unit and its bounds.
        default: Its default in Markdown: the value in backquotes, or words.
        value: The text that has the effect of the default; None if no text has it.
        effect: What it does, in Markdown.
        old_names: Other names that are read.
        since: The version that brought it.
        is_reloaded: Whether it names files that the running server reads again when they change.
        is_secret: Whether its value must not be shown.
    """

    name: str
    takes: str
    default: str
    value: str | None
    effect: str
    old_names: tuple[str, ...] = ()
    since: str = FIRST_RELEASE
    is_reloaded: bool = False
    is_secret: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """The settings of one purpose.

    Attributes:
        title: Its title.
        prefix: The beginning of the environment variables, such as `SCHEMA_REGISTRY_`; empty if there are none.
        rows: Its settings.
        without_effect: Settings of the reference that have no effect here -> the reason.
    """

    title: str
    prefix: str
    rows: Sequence[Row]
    without_effect: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Catalog:
    """All settings of a server or a client.

    Attributes:
        title: What has the settings, in Markdown.
        name: What has the settings, as `magicbyte config reference` names it.
        groups: The settings by purpose.
        passed_on: Prefixes of names that are passed on -> what takes them.
        translated: Settings of the reference that set other settings -> a sentence that says which.
        refused: Settings that ask for something that is not kept -> the reason.
    """

    title: str
    name: str
    groups: Sequence[Group]
    passed_on: Mapping[str, str] = field(default_factory=dict)
    translated: Mapping[str, str] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)

    @property
    def rows(self) -> dict[str, Row]:
        """The settings by name."""
        return {row.name: row for group in self.groups for row in group.rows}

    @property
    def old_names(self) -> dict[str, str]:
        """Other names of settings -> the names to use."""
        return {old: row.name for row in self.rows.values() for old in row.old_names}

    @property
    def without_effect(self) -> dict[str, str]:
        """Settings that have no effect here -> the reason."""
        return {name: reason for group in self.groups for name, reason in group.without_effect.items()}


def server_catalog(settings: type[ServerSettings], *, name: str, prefix: str) -> Catalog:
    """The catalog of a server's settings: one group for each class that adds some, the server's own first."""
    classes = [owner for owner in settings.__mro__ if issubclass(owner, ServerSettings) and any(own_properties(owner))]
    old_names = settings.older_names()
    return Catalog(
        title=f"`magicbyte {name}`",
        name=name,
        groups=[server_group(owner, prefix, old_names) for owner in classes],
        passed_on=settings.passed_on(),
        translated=settings.translated(),
        refused=settings.not_kept(),
    )


def server_group(owner: type[ServerSettings], prefix: str, old_names: Mapping[str, str]) -> Group:
    """The settings that a class itself adds.

    Args:
        owner: The class.
        prefix: The beginning of the environment variables.
        old_names: Old names of settings -> their names now.
    """
    rows = [_server_row(name, model, old_names) for name, model in own_properties(owner)]
    title = owner.__dict__.get("title") or owner.__name__.removesuffix("Settings")
    return Group(title, prefix, rows, without_effect_of(owner))


def _server_row(name: str, model: FieldInfo, old_names: Mapping[str, str]) -> Row:
    kind, annotations = annotations_of(model)
    since = next((item.version for item in annotations if isinstance(item, Since)), FIRST_RELEASE)
    default = default_words(model)
    value = None if model.is_required() else written(model.get_default(call_default_factory=True, validated_data={}))
    literal = _LITERAL.fullmatch(default)
    return Row(
        name=name,
        takes=words(model),
        default=default,
        value=literal[1] if literal else None if default else value,
        effect=model.description or "",
        old_names=tuple(old for old, new in old_names.items() if new == name),
        since=since,
        is_reloaded=any(isinstance(item, Reloaded) for item in annotations),
        is_secret=is_secret(name) or kind is Secret or not model.repr,
    )


def section_groups(sections: Mapping[str, type[Section]], prefix: str, before: str = "") -> list[Group]:
    """The groups of a client's settings.

    Args:
        sections: Title -> the section with its settings.
        prefix: The beginning of the environment variables.
        before: A prefix of each name.
    """
    return [
        Group(title, prefix, list(_section_rows(settings_of(section), before))) for title, section in sections.items()
    ]


def _section_rows(rows: Iterable[Setting], before: str) -> Iterable[Row]:
    for row in rows:
        default = default_text(row)
        literal = _LITERAL.fullmatch(default)
        yield Row(
            name=before + row.name,
            takes=row.kind.words,
            default=default,
            value=literal[1] if literal else None if default else "",
            effect=row.help,
            old_names=tuple(before + name for name in row.names[1:]),
            is_secret=is_secret(row.name),
        )
