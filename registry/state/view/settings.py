"""What a view holds beside versions: contexts, configs, modes, marks of mirrors, and access rules."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from magicbyte.security.rights.rule import Rule
from registry.log.port import BEGINNING, LogEntry, Offset
from registry.state import records
from registry.state.model import MODES, Config, MirrorMark, RuleOrigin
from registry.state.records import Key, Undecodable
from registry.state.view.overlay import Table
from registry.state.view.versions import Versions

#: The part of a key that marks an access rule, even if the rest of the key is malformed.
_RULE_KEY = re.compile(rb'"keytype"\s*:\s*"%b"' % records.RULE.encode())


class Settings(Versions):
    """The settings of contexts and subjects, and the access rules, beside the versions.

    As for versions, other threads may read while one changes.
    """

    def __init__(self, base: Settings | None = None) -> None:
        super().__init__(base.tables if base else None)
        #: The offset of the last change of the access rules.
        self.rules_offset: Offset = base.rules_offset if base else BEGINNING
        #: The access rules of an unfinished change of several rules; None if there is no such change.
        self._rule_changes: list[tuple[Rule, RuleOrigin | None]] | None = None
        #: The keys of access rule records that cannot be read, and the fault in each.
        self.broken_rules: dict[bytes, str] = {}

    # Reads

    def contexts(self) -> list[str]:
        """The contexts except the default one, sorted."""
        return sorted(list(self.tables.contexts))  # noqa: C414  the copy is one step, the sort is not

    def config(self, subject: str | None) -> Config | None:
        """The config set for a subject or context; None asks for the global one."""
        return self.tables.configs.get(subject)

    def configured(self) -> list[str]:
        """The subjects and contexts that have a config of their own."""
        return [name for name in list(self.tables.configs) if name is not None]

    def with_modes(self) -> list[str]:
        """The subjects and contexts that have a mode of their own."""
        return [name for name in list(self.tables.modes) if name is not None]

    def mode(self, subject: str | None) -> str | None:
        """The mode set for a subject or context; None asks for the global one."""
        return self.tables.modes.get(subject)

    def mirrors(self) -> dict[str, MirrorMark]:
        """The marks of mirrors, by the context that each writes into."""
        marks = ((context, self.tables.mirrors.get(context)) for context in sorted(list(self.tables.mirrors)))  # noqa: C414
        return {context: mark for context, mark in marks if mark is not None}

    def rules(self) -> list[Rule]:
        """The access rules, in no order."""
        return list(self.tables.rules)

    def rule_origin(self, rule: Rule) -> RuleOrigin | None:
        """The author and time of an access rule; None if there is no such rule."""
        return self.tables.rules.get(rule)

    # Changes, made by the view as it applies records

    def _apply_config(self, key: Key, value: dict[str, Any] | None, _entry: LogEntry) -> None:
        if value is None:
            self.tables.configs.pop(key.subject, None)
            return
        try:
            self.tables.configs[key.subject] = Config.from_json(value)
        except TypeError as error:
            raise Undecodable(f"a CONFIG value is malformed: {error}") from None

    def _apply_mode(self, key: Key, value: dict[str, Any] | None, _entry: LogEntry) -> None:
        mode = None if value is None else value.get("mode")
        if mode is None:
            self.tables.modes.pop(key.subject, None)
        elif isinstance(mode, str) and mode in MODES:
            self.tables.modes[key.subject] = mode
        else:
            raise Undecodable(f"unknown mode {mode!r}")

    def _apply_context(self, key: Key, value: dict[str, Any] | None, _entry: LogEntry) -> None:
        assert key.subject is not None
        if value is None:
            self.tables.contexts.pop(key.subject, None)
        else:
            self.tables.contexts[key.subject] = True

    def _apply_mirror(self, key: Key, value: dict[str, Any] | None, _entry: LogEntry) -> None:
        assert key.subject is not None
        if value is None:
            self.tables.mirrors.pop(key.subject, None)
        else:
            self.tables.mirrors[key.subject] = records.decode_mirror(value)

    def _apply_rule(self, key: Key, value: dict[str, Any] | None, entry: LogEntry) -> None:
        assert key.rule is not None
        change = key.rule, None if value is None else records.decode_rule_origin(value)
        if self._rule_changes is not None:
            self._rule_changes.append(change)
        else:
            _change_rules(self.tables.rules, [change])
            self.rules_offset = entry.offset
        if entry.key is not None:
            self.broken_rules.pop(entry.key, None)

    def _apply_rule_set(self, _key: Key, value: dict[str, Any] | None, entry: LogEntry) -> None:
        """Begin or end a change of several access rules; readers see the whole change or nothing."""
        changes = self._rule_changes or []
        if value is not None and value.get("open") is True:
            self._rule_changes = changes
            return
        self._rule_changes = None
        if not changes:
            return
        table = self.tables.rules
        if isinstance(table, dict):
            # Other threads may be reading the rules, so change a copy.
            table = table.copy()
        _change_rules(table, changes)
        self.tables.rules, self.rules_offset = table, entry.offset

    def _note_broken_rule(self, entry: LogEntry, error: Undecodable) -> None:
        """Record that a record could not be read, if it is an access rule: the rule may deny something."""
        if not _RULE_KEY.search(entry.key or b""):
            return
        if entry.key is None or entry.value is None:
            self.broken_rules.pop(entry.key or b"", None)
        else:
            self.broken_rules[entry.key] = f"offset {entry.offset}: {error}"


def _change_rules(table: Table[Rule, RuleOrigin], changes: Iterable[tuple[Rule, RuleOrigin | None]]) -> None:
    for rule, origin in changes:
        if origin is None:
            table.pop(rule, None)
        else:
            table[rule] = origin
