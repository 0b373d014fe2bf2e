"""Reads a project's settings from the table of a configuration file."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from compat.level import LEVELS, Level, Policy
from magicbyte.cli.check.config.config import DEFAULT_FILES, LINT_RULES, TYPES, Config, Declaration, Entry, Link
from magicbyte.cli.check.config.toml_file import TomlFile


def parse_config(source: TomlFile, root: Path) -> Config:
    """The settings in a file's table.

    Raises:
        Failure: a setting is unknown or wrong; with line and column.
    """
    return _Reader(source).config(Config(root, source))


@dataclass(frozen=True, slots=True)
class _Reader:
    """Takes values of the expected types out of the table, and reports the ones that are not."""

    source: TomlFile
    where: str = ""
    table: Mapping[str, Any] = field(default_factory=dict)

    def config(self, config: Config) -> Config:
        top = replace(self, table=self.source.table)
        top.refuse_others(
            "files",
            "exclude",
            "compatibility",
            "policy",
            "against",
            "lock",
            "registry",
            "import-roots",
            "subjects",
            "lint",
            "allow",
            "strict",
        )
        plain = tuple(Entry(pattern) for pattern in top.texts("files") or DEFAULT_FILES)
        lint = top.child("lint", top.table.get("lint", {}))
        lint.refuse_others("rules", "severity", "field-case")
        return replace(
            config,
            entries=(*(reader.entry() for reader in top.children("subjects")), *plain),
            exclude=top.texts("exclude"),
            level=top.level("compatibility"),
            policy=top.policy() or Policy.STRICT,
            against=top.text("against"),
            lock=top.text("lock"),
            registry=top.text("registry"),
            import_roots=top.texts("import-roots") or ("",),
            lint=tuple(lint.choice(rule, LINT_RULES, "rules") for rule in lint.texts("rules")),
            lint_warns=lint.choice(lint.text("severity") or "error", ("error", "warning"), "severity") == "warning",
            field_case=lint.optional_choice("field-case", ("snake_case", "camelCase")),
            declarations=tuple(reader.declaration() for reader in top.children("allow")),
            strict=top.flag("strict"),
        )

    def flag(self, key: str) -> bool:
        value = self.table.get(key, False)
        if not isinstance(value, bool):
            self.source.fail(f"`{key}` is true or false", str(value), key)
        return value

    def entry(self) -> Entry:
        self.refuse_others("file", "files", "subject", "type", "compatibility", "policy", "references")
        pattern = self.text("file") or self.text("files")
        if pattern is None:
            self.source.fail(f"{self.where} has no `file` and no `files`", self.text("subject"), "[[subjects]]")
        entry = Entry(
            pattern,
            self.text("subject") or "{stem}",
            self.optional_choice("type", tuple(TYPES.values())),
            self.level("compatibility"),
            self.policy(),
            tuple(reader.link() for reader in self.children("references")),
        )
        try:
            entry.subject_of("folder/file.avsc")
        except (KeyError, IndexError, ValueError):
            self.source.fail(
                f"{self.where}: a subject may have {{stem}}, {{folder}} and {{path}} in it and no other braces",
                entry.subject,
            )
        return entry

    def link(self) -> Link:
        self.refuse_others("name", "file", "subject", "version")
        name, file, subject = self.text("name"), self.text("file"), self.text("subject")
        version = self.table.get("version", -1)
        if name is None or (file is None) == (subject is None):
            self.source.fail(f"{self.where} needs a `name`, and either a `file` or a `subject`", name, file, subject)
        if version.__class__ is not int or version == 0 or version < -1:
            self.source.fail(f"{self.where}: a version is a number from 1, or -1 for the latest", "version")
        return Link(name, file, subject, version)

    def declaration(self) -> Declaration:
        self.refuse_others("rule", "subject", "path", "reason", "until")
        rule, reason, until = self.text("rule"), self.text("reason"), self.table.get("until")
        if not rule or not reason or until is None:
            self.source.fail(
                f"{self.where} needs a `rule`, a `reason` and `until`, the last day it holds", rule, reason
            )
        if isinstance(until, str):
            try:
                until = dt.date.fromisoformat(until)
            except ValueError:
                self.source.fail(f"{self.where}: `until` is a day such as 2030-12-31, not {until!r}", until)
        if type(until) is not dt.date:
            self.source.fail(f"{self.where}: `until` is a day such as 2030-12-31", until, "until")
        return Declaration(rule, reason, until, self.text("subject") or "**", self.text("path") or "**")

    def child(self, key: str, value: Any) -> _Reader:
        if not isinstance(value, dict):
            self.source.fail(f"`{key}` is to be a table", key)
        return _Reader(self.source, key, value)

    def children(self, key: str) -> Iterator[_Reader]:
        listed = self.table.get(key, [])
        if not isinstance(listed, list):
            self.source.fail(f"`{key}` is to be an array of tables", key)
        for number, value in enumerate(listed, 1):
            yield self.child(f"{key} {number}", value)

    def text(self, key: str) -> str | None:
        value = self.table.get(key)
        if value is not None and not isinstance(value, str):
            self.source.fail(f"`{key}` is to be a text, not {value!r}", key)
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        value = self.table.get(key, [])
        listed = [value] if isinstance(value, str) else value
        if not isinstance(listed, list) or not all(isinstance(item, str) for item in listed):
            self.source.fail(f"`{key}` is to be a text or a list of texts", key)
        return tuple(listed)

    def level(self, key: str) -> Level | None:
        name = self.text(key)
        return None if name is None else LEVELS[self.choice(name.upper(), tuple(LEVELS), name)]

    def policy(self) -> Policy | None:
        name = self.text("policy")
        return None if name is None else Policy(self.choice(name.upper(), tuple(Policy), name))

    def optional_choice(self, key: str, choices: tuple[str, ...]) -> str | None:
        value = self.text(key)
        return None if value is None else self.choice(value, choices, value)

    def choice(self, value: str, choices: tuple[str, ...], word: str) -> str:
        if value not in choices:
            self.source.fail(f"{value!r} is none of {', '.join(choices)}", value, word)
        return value

    def refuse_others(self, *names: str) -> None:
        for key in self.table:
            if key not in names:
                place = f"{self.where}: " if self.where else ""
                self.source.fail(f"{place}there is no setting {key!r}; there are {', '.join(names)}", key)
