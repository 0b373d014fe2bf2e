"""A project's configuration: `magicbyte.toml`, or the table `tool.magicbyte` of `pyproject.toml`."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from compat.level import LEVELS, Level, Policy
from compat.schema import AVRO, JSON, PROTOBUF
from magicbyte.check.config.patterns import matches
from magicbyte.check.config.toml_file import read_text, read_toml
from magicbyte.kit.settings.compound import ListOf
from magicbyte.kit.settings.kinds import Reading, Scalar, choice, flag, text, whole
from magicbyte.kit.settings.nodes import BROKEN, MapNode
from magicbyte.kit.settings.place import FindingsError
from magicbyte.kit.settings.section import Nested, Origin, Section, read_section, setting

FILE = "magicbyte.toml"
DEFAULT_FILES = ("**/*.avsc", "**/*.avro", "**/*.proto", "**/*.schema.json")
LINT_RULES = ("docs", "names", "defaults", "reserved")
#: The table with our settings in each configuration file.
TABLES: dict[str, tuple[str, ...]] = {FILE: (), "pyproject.toml": ("tool", "magicbyte")}
#: File name ending -> schema type.
TYPES = {".avsc": AVRO, ".avro": AVRO, ".proto": PROTOBUF, ".json": JSON}


def _day() -> Scalar:
    def convert(value: Any) -> dt.date:
        day = dt.date.fromisoformat(value) if isinstance(value, str) else value
        if type(day) is not dt.date:
            raise ValueError
        return day

    return Scalar("a day such as 2030-12-31", {"type": "string", "format": "date"}, convert, (str, dt.date))


_TEXT = text(numbers=False)
_PATTERNS = ListOf(text("a pattern", numbers=False), or_one=True)
_FOLDERS = ListOf(text("a folder", numbers=False), or_one=True)
_TYPE = choice(*dict.fromkeys(TYPES.values()))
_LEVEL = choice(*LEVELS, spell=lambda value: str(value).upper(), value_of=LEVELS.__getitem__)
_POLICY = choice(*Policy, spell=lambda value: str(value).upper(), value_of=Policy)


class Link(Section):
    """A reference of a schema: the name in its text, and the file or the subject's version that the name stands for."""

    name: str = setting(_TEXT, "The name in the schema's text.")
    file: str | None = setting(_TEXT, "The target file, relative to the project's folder.", default=None)
    subject: str | None = setting(_TEXT, "Instead of file: the target subject.", default=None)
    version: int = setting(whole(-1), "The subject's version; -1 for the latest.", default=-1)

    def problems(self) -> Iterable[tuple[str, str]]:
        """Problems between the settings."""
        if (self.file is None) == (self.subject is None):
            yield "", "must have file or subject"
        if self.version == 0:
            yield "version", "must be a number from 1, or -1 for the latest"


class Entry(Section):
    """The settings for some files; the first entry whose pattern matches a file applies."""

    files: str = setting(text("a pattern", numbers=False), "The file, or a pattern of files.", "file", "files")
    subject: str = setting(_TEXT, "The subject; may have `{stem}`, `{folder}` and `{path}` in it.", default="{stem}")
    schema_type: str | None = setting(
        _TYPE, "The schema type.", "type", default=None, default_words="by the file's name"
    )
    level: Level | None = setting(
        _LEVEL, "The level of the subject.", "compatibility", default=None, default_words="the project's"
    )
    policy: Policy | None = setting(
        _POLICY, "How JSON Schema differences are judged.", default=None, default_words="the project's"
    )
    references: tuple[Link, ...] = setting(ListOf(Nested(Link)), "The references of its schemas.", default=())
    rules: str | None = setting(
        text("a file", numbers=False),
        "The file with the rules of its schema.",
        default=None,
        default_words="`STEM.rules.json` or `STEM.rules.yaml` beside the schema",
    )

    def subject_of(self, path: str) -> str:
        """The subject of a file."""
        folder = path.rpartition("/")[0]
        return self.subject.format(stem=stem_of(path), folder=folder.rpartition("/")[2], path=path)

    def problems(self) -> Iterable[tuple[str, str]]:
        """Problems of the subject's pattern."""
        try:
            self.subject_of("folder/file.avsc")
        except (KeyError, IndexError, ValueError):
            yield "subject", "may have {stem}, {folder} and {path} in it and no other braces"


class Declaration(Section):
    """A declared break; its rule, subject and path are patterns."""

    rule: str = setting(_TEXT, "The rule that is broken.")
    reason: str = setting(_TEXT, "Why the break is allowed.")
    until: dt.date = setting(_day(), "The last day on which the declaration is valid.")
    subject: str = setting(_TEXT, "The subject.", default="**")
    path: str = setting(_TEXT, "The path in the schema.", default="**")


class Lint(Section):
    """Rules about one schema."""

    rules: tuple[str, ...] = setting(ListOf(choice(*LINT_RULES), or_one=True), "The rules that are on.", default=())
    severity: str = setting(
        choice("error", "warning"), "Whether findings change the exit code: warnings do not.", default="error"
    )
    field_case: str | None = setting(
        choice("snake_case", "camelCase"), "The spelling of fields and properties.", default=None, default_words="both"
    )


class Config(Section):
    """A project's settings.

    Attributes:
        root: The project's folder, to which paths are relative.
    """

    root: Path = Path()
    files: tuple[str, ...] = setting(
        _PATTERNS,
        "Patterns of the schema files that no entry of `subjects` names; an Avro container file has one in its header.",
        default=DEFAULT_FILES,
    )
    exclude: tuple[str, ...] = setting(
        _PATTERNS,
        "Patterns of files to ignore; hidden folders, `node_modules`, `build`, `dist`, `target` and `venv` always are.",
        default=(),
    )
    against: str | None = setting(
        _TEXT,
        "The baseline, as in `--against`.",
        default=None,
        default_words="the first of origin/HEAD, origin/main, main, origin/master, master; else the check fails",
    )
    level: Level | None = setting(
        _LEVEL,
        "The level of subjects without one.",
        "compatibility",
        default=None,
        default_words="the baseline's, else BACKWARD",
    )
    policy: Policy = setting(_POLICY, "How JSON Schema differences are judged.", default=Policy.STRICT)
    lock: str | None = setting(_TEXT, "The lock file in which the check looks up references.", default=None)
    registry: str | None = setting(
        text("a URL", numbers=False),
        "The registry of `register`, `download`, `set-compatibility`, `plan` and `apply`, of `--against topic:` and of"
        " `--against registry:`; otherwise `check` does not ask it.",
        default=None,
    )
    import_roots: tuple[str, ...] = setting(
        _FOLDERS, "The folders at which Protobuf imports start.", default=("",), default_words="the project's folder"
    )
    subjects: tuple[Entry, ...] = setting(ListOf(Nested(Entry)), "Settings for some files, `[[subjects]]`.", default=())
    rules_types: tuple[str, ...] = setting(
        ListOf(text("a name", numbers=False), or_one=True),
        "Types of rules and actions that your clients have executors for, besides the known ones.",
        default=(),
    )
    strict: bool = setting(flag(), "As `--strict`: what breaks although the rules allow it is an error.", default=False)
    lint: Lint = setting(Nested(Lint), "Rules about one schema.", default=Lint(), default_words="off")
    declarations: tuple[Declaration, ...] = setting(
        ListOf(Nested(Declaration)), "Declared breaks, `[[allow]]`.", "allow", default=()
    )

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The settings for files; the first entry whose pattern matches a file applies."""
        origin = Origin("", self.origin.place, {"file": self.at("files")})
        return (*self.subjects, *(Entry(files=pattern, origin=origin) for pattern in self.files))

    def entry_of(self, path: str) -> Entry | None:
        """The entry for a file; None if the file is ignored."""
        if is_rule_file(path) or any(matches(pattern, path) for pattern in self.exclude):
            return None
        return next((entry for entry in self.entries if matches(entry.files, path)), None)

    @property
    def endings(self) -> tuple[str, ...]:
        """The file name endings of schema files: the usual ones, and those of the entries' patterns."""
        entry_endings = (f".{entry.files.rpartition('.')[2]}" for entry in self.entries if "." in entry.files)
        return tuple(
            dict.fromkeys((*TYPES, *(ending for ending in entry_endings if not any(sign in ending for sign in "*?/"))))
        )

    def type_of(self, path: str, entry: Entry) -> str | None:
        """The schema type of a file, from its entry or its name's ending."""
        return entry.schema_type or next((name for end, name in TYPES.items() if path.endswith(end)), None)


def find_config(folder: Path, named: Path | None = None) -> Config:
    """Read the named file, or the nearest configuration in a folder and its parents, up to the repository's root.

    Without a file, the defaults apply to the whole repository, or to the folder if there is no repository.

    Raises:
        Failure: the file does not exist or is wrong; with line and column.
    """
    if named is not None:
        node = read_toml(str(named), read_text(named, str(named)), path=TABLES.get(named.name, ()))
        root = named.resolve().parent
        return Config(root=root) if node is None else parse_config(node, root)
    for around in (folder, *folder.parents):
        for name, path in TABLES.items():
            file = around / name
            if file.is_file() and (node := read_toml(name, read_text(file, name), path=path)) is not None:
                return parse_config(node, around)
        if (around / ".git").exists():
            return Config(root=around)
    return Config(root=folder)


def parse_config(node: MapNode, root: Path) -> Config:
    """The settings in a file's table.

    Raises:
        FindingsError: settings are unknown or wrong; with line and column.
    """
    reading = Reading()
    config = read_section(Config, node, reading, root=root)
    if config is BROKEN:
        raise FindingsError(reading.findings)
    assert isinstance(config, Config)
    return config


#: The endings of files with the rules of a schema.
RULE_ENDINGS = (".rules.json", ".rules.yaml", ".rules.yml")


def is_rule_file(path: str) -> bool:
    """Whether a file has the rules of a schema, by its name."""
    return path.endswith(RULE_ENDINGS)


def stem_of(path: str) -> str:
    """The name of a schema file without its folder and the ending of its type."""
    name = path.rpartition("/")[2]
    for end in (".schema.json", *TYPES):
        if name.endswith(end):
            return name.removesuffix(end)
    return name
