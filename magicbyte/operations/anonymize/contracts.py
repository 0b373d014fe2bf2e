"""Anonymous metadata and rules."""

from __future__ import annotations

from dataclasses import replace

from compat.contracts.model import RESERVED_PROPERTY, VERSION_PROPERTY, Metadata, Rule, RuleSet
from magicbyte.operations.anonymize.tokens import Tokens

#: The types and the actions of rules that come with Confluent's clients or with ours.
_TYPES = frozenset({"AVRO", "CEL", "CEL_FIELD", "DLQ", "ENCRYPT", "ENCRYPT_PAYLOAD", "JSON", "JSONATA", "REDACT"})
_ACTIONS = frozenset({"DLQ", "ERROR", "NONE"})
#: What the names of parameters begin with that clients know.
_PARAMETERS = ("dlq.", "encrypt.", "preserve.source.fields")
_WILDCARDS = frozenset({"*", "**"})


class AnonymousContracts:
    """Replaces the names and texts of metadata and rules.

    Args:
        tokens: The tokens.
    """

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens

    def metadata(self, metadata: Metadata | None) -> Metadata | None:
        """Metadata with paths, tags, properties and names replaced; wildcards in paths stay."""
        if metadata is None:
            return None
        of = self._tokens.of
        return Metadata(
            {self._path(path): tuple(map(of, tags)) for path, tags in metadata.tags.items()},
            dict(self._property(name, value) for name, value in metadata.properties.items()),
            tuple(map(of, metadata.sensitive)),
        )

    def rule_set(self, rule_set: RuleSet | None) -> RuleSet | None:
        """A rule set with names, docs, tags, parameters and expressions replaced."""
        if rule_set is None:
            return None
        return RuleSet(
            tuple(map(self._rule, rule_set.migration_rules)),
            tuple(map(self._rule, rule_set.domain_rules)),
            tuple(map(self._rule, rule_set.encoding_rules)),
            rule_set.enable_at,
        )

    def _rule(self, rule: Rule) -> Rule:
        tokens = self._tokens
        parameters = (
            (name if name.startswith(_PARAMETERS) else tokens.of(name), tokens.of(value))
            for name, value in rule.params.items()
        )
        return replace(
            rule,
            name=tokens.optional(rule.name),
            doc=tokens.optional(rule.doc),
            type=rule.type if rule.type in _TYPES else tokens.optional(rule.type),
            tags=tuple(map(tokens.of, rule.tags)),
            params=dict(parameters),
            expr=tokens.optional(rule.expr),
            on_success=self._actions(rule.on_success),
            on_failure=self._actions(rule.on_failure),
        )

    def _actions(self, actions: str | None) -> str | None:
        if actions is None:
            return None
        return ",".join(one if one in _ACTIONS else self._tokens.of(one) for one in actions.split(","))

    def _path(self, path: str) -> str:
        return ".".join(part if part in _WILDCARDS else self._tokens.of(part) for part in path.split("."))

    def _property(self, name: str, value: str) -> tuple[str, str]:
        if name == VERSION_PROPERTY:
            return name, value
        if name == RESERVED_PROPERTY:
            return name, ",".join(self._tokens.of(one.strip()) for one in value.split(","))
        return self._tokens.of(name), self._tokens.of(value)
