"""What a project says about its schemas: `magicbyte.toml`, or the table `tool.magicbyte` of `pyproject.toml`."""

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
#: Where each file's table of ours is.
TABLES: dict[str, tuple[str, ...]] = {FILE: (), "pyproject.toml": ("tool", "magicbyte")}
#: Ends of file names.
TYPES = {".avsc": AVRO, ".avro": AVRO, ".proto": PROTOBUF, ".json": JSON}


@dataclass(frozen=True, slots=True)
class Link:
    """A reference that the configuration spells out.

    Attributes:
        name: What the text uses.
        file: The project's file that it leads to, from the project's folder; None where it leads to a subject.
        subject: The subject that it leads to.
        version: The subject's version; -1 for the latest.
    """

    name: str
    file: str | None = None
    subject: str | None = None
    version: int = -1


@dataclass(frozen=True, slots=True)
class Entry:
    """What holds for some files: `files` is a pattern, and `subject` may have `{stem}`, `{folder}` and `{path}`."""

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
    """A break that is meant: patterns of the rule, the subject and the path, why it is, and the last day it holds."""

    rule: str
    reason: str
    until: dt.date
    subject: str = "**"
    path: str = "**"


@dataclass(frozen=True, slots=True)
class Config:
    """A project's settings.

    Attributes:
        root: The project's folder; paths start there.
        source: The file they come from; None where there is none.
        entries: The first one whose pattern fits a file decides about it.
        exclude: Patterns of files that are none of ours.
        level: Of subjects that have no level of their own; None leaves it to the baseline.
        policy: How strictly JSON Schema differences are judged.
        against: What to compare with, as `--against` has it.
        lock: The lock file in which references are looked up.
        registry: The registry's URL for commands that need one; `check` asks it only when told to.
        import_roots: Folders that Protobuf imports start at.
        lint: Names of the lint rules that are on.
        lint_warns: Whether lint findings leave the exit code as it is.
        field_case: How Avro fields and JSON properties are spelled: `snake_case` or `camelCase`; None allows both.
        declarations: The breaks that are meant.
        strict: Whether what breaks although the rules allow it is an error.
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
        """The entry that decides about a file; None where the file is none of ours."""
        if any(matches(pattern, path) for pattern in self.exclude):
            return None
        return next((entry for entry in self.entries if matches(entry.files, path)), None)

    @property
    def endings(self) -> tuple[str, ...]:
        """The ends of schema files' names: the usual ones, and those of the entries' patterns."""
        own = (f".{entry.files.rpartition('.')[2]}" for entry in self.entries if "." in entry.files)
        return tuple(dict.fromkeys((*TYPES, *(ending for ending in own if not any(sign in ending for sign in "*?/")))))

    def type_of(self, path: str, entry: Entry) -> str | None:
        """The schema type of a file, by its entry or its name's end."""
        return entry.schema_type or next((name for end, name in TYPES.items() if path.endswith(end)), None)


def find_config(folder: Path, named: Path | None = None) -> Config:
    """Read the named file, or the nearest one in a folder and those around it, up to the repository's root.

    Without any, the defaults hold for the whole repository, or for the folder where there is none.

    Raises:
        Failure: the file is not there or says something wrong; with line and column.
    """
    if named is not None:
        found = read_toml(str(named), read_text(named, str(named)), path=TABLES.get(named.name, ()))
        root = named.resolve().parent
        return Config(root) if found is None else _parse(found, root)
    for around in (folder, *folder.parents):
        for name, path in TABLES.items():
            file = around / name
            if file.is_file() and (found := read_toml(name, read_text(file, name), path=path)) is not None:
                return _parse(found, around)
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
