"""A project's configuration: `magicbyte.toml`, or the table `tool.magicbyte` of `pyproject.toml`."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from pathlib import Path

from compat.level import Level, Policy
from compat.schema import AVRO, JSON, PROTOBUF
from magicbyte.cli.check.config.patterns import matches
from magicbyte.cli.check.config.toml_file import TomlFile, read_text, read_toml

FILE = "magicbyte.toml"
DEFAULT_FILES = ("**/*.avsc", "**/*.avro", "**/*.proto", "**/*.schema.json")
LINT_RULES = ("docs", "names", "defaults", "reserved")
#: The table with our settings in each configuration file.
TABLES: dict[str, tuple[str, ...]] = {FILE: (), "pyproject.toml": ("tool", "magicbyte")}
#: File name ending -> schema type.
TYPES = {".avsc": AVRO, ".avro": AVRO, ".proto": PROTOBUF, ".json": JSON}


@dataclass(frozen=True, slots=True)
class Link:
    """A reference given in the configuration.

    Attributes:
        name: The name in the schema's text.
        file: The target file, relative to the project's folder; None if the target is a subject.
        subject: The target subject.
        version: The subject's version; -1 for the latest.
    """

    name: str
    file: str | None = None
    subject: str | None = None
    version: int = -1


@dataclass(frozen=True, slots=True)
class Entry:
    """The settings for some files: `files` is a pattern; `subject` may contain `{stem}`, `{folder}` and `{path}`."""

    files: str
    subject: str = "{stem}"
    schema_type: str | None = None
    level: Level | None = None
    policy: Policy | None = None
    references: tuple[Link, ...] = ()

    def subject_of(self, path: str) -> str:
        """The subject of a file."""
        folder, _, name = path.rpartition("/")
        return self.subject.format(stem=_stem(name), folder=folder.rpartition("/")[2], path=path)


@dataclass(frozen=True, slots=True)
class Declaration:
    """A declared break: patterns of its rule, subject and path, the reason, and the last day on which it is valid."""

    rule: str
    reason: str
    until: dt.date
    subject: str = "**"
    path: str = "**"


@dataclass(frozen=True, slots=True)
class Config:
    """A project's settings.

    Attributes:
        root: The project's folder, to which paths are relative.
        source: The configuration file; None if there is none.
        entries: The settings for files; the first entry whose pattern matches a file applies.
        exclude: Patterns of files to ignore.
        level: The level of subjects without one of their own; None for the baseline's.
        policy: How strictly differences of JSON Schemas are judged.
        against: The baseline, as in `--against`.
        lock: The lock file for resolving references.
        registry: The registry's URL for commands that need one; `check` uses it only when told to.
        import_roots: The folders to which Protobuf imports are relative.
        lint: The names of the enabled lint rules.
        lint_warns: Whether lint findings are warnings, which do not change the exit code.
        field_case: The spelling of Avro fields and JSON properties: `snake_case` or `camelCase`; None allows both.
        declarations: The declared breaks.
        strict: Whether breaks that the rules allow are errors.
    """

    root: Path
    source: TomlFile | None = None
    entries: tuple[Entry, ...] = tuple(Entry(pattern) for pattern in DEFAULT_FILES)
    exclude: tuple[str, ...] = ()
    level: Level | None = None
    policy: Policy = Policy.STRICT
    against: str | None = None
    lock: str | None = None
    registry: str | None = None
    import_roots: tuple[str, ...] = ("",)
    lint: tuple[str, ...] = ()
    lint_warns: bool = False
    field_case: str | None = None
    declarations: tuple[Declaration, ...] = ()
    strict: bool = False

    def entry_of(self, path: str) -> Entry | None:
        """The entry for a file; None if the file is ignored."""
        if any(matches(pattern, path) for pattern in self.exclude):
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
        source = read_toml(str(named), read_text(named, str(named)), path=TABLES.get(named.name, ()))
        root = named.resolve().parent
        return Config(root) if source is None else _parse(source, root)
    for around in (folder, *folder.parents):
        for name, path in TABLES.items():
            file = around / name
            if file.is_file() and (source := read_toml(name, read_text(file, name), path=path)) is not None:
                return _parse(source, around)
        if (around / ".git").exists():
            return Config(around)
    return Config(folder)


def _parse(source: TomlFile, root: Path) -> Config:
    from magicbyte.cli.check.config.reader import parse_config  # noqa: PLC0415 - many projects have no configuration

    return parse_config(source, root)


def _stem(name: str) -> str:
    for end in (".schema.json", *TYPES):
        if name.endswith(end):
            return name.removesuffix(end)
    return name
