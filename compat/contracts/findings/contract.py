"""A contract to check: a rule set with the schema that it is for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from compat.contracts.findings.finding import Finding, Severity
from compat.contracts.model import Metadata, Rule, RuleSet
from compat.contracts.walk import field_walk
from compat.contracts.walk.leaf import FieldWalk, Leaf
from compat.schema import Dependencies, SchemaText

MIGRATION, DOMAIN, ENCODING = "migrationRules", "domainRules", "encodingRules"
ENCRYPT, ENCRYPT_PAYLOAD = "ENCRYPT", "ENCRYPT_PAYLOAD"
WRITING = frozenset({"WRITE", "WRITEREAD"})
READING = frozenset({"READ", "WRITEREAD"})


@dataclass(frozen=True, slots=True)
class SchemaVersion:
    """A schema and the schemas that it refers to."""

    schema: SchemaText
    dependencies: Dependencies = ()


@dataclass(frozen=True, slots=True)
class PlacedRule:
    """A rule with its place in a rule set.

    Attributes:
        rule: The rule.
        phase: The list that holds it, such as `domainRules`.
        index: Its index in the list.
    """

    rule: Rule
    phase: str
    index: int

    @property
    def type(self) -> str:
        """The rule's type in upper case."""
        return (self.rule.type or "").upper()

    @property
    def is_transform(self) -> bool:
        """Whether it changes values; a rule without a kind does."""
        return self.rule.kind != "CONDITION"

    @property
    def place(self) -> str:
        """The place of the rule in a request."""
        return f"ruleSet.{self.phase}[{self.index}]"

    def selects(self, leaf: Leaf) -> bool:
        """Whether the rule's tags select a leaf; a rule without tags selects every leaf."""
        return not self.rule.tags or not leaf.tags.isdisjoint(self.rule.tags)

    def shares_tags(self, other: PlacedRule) -> bool:
        """Whether both rules may select the same field."""
        return not self.rule.tags or not other.rule.tags or not set(self.rule.tags).isdisjoint(other.rule.tags)

    def refuse(self, code: str, text: str, remedy: str, part: str = "", at: tuple[int, int] | None = None) -> Finding:
        """A finding for which the rule set is refused."""
        return self._finding(Severity.REFUSE, code, text, remedy, part, at)

    def warn(self, code: str, text: str, remedy: str, part: str = "", at: tuple[int, int] | None = None) -> Finding:
        """A finding that is only a warning."""
        return self._finding(Severity.WARN, code, text, remedy, part, at)

    def _finding(
        self, severity: Severity, code: str, text: str, remedy: str, part: str, at: tuple[int, int] | None
    ) -> Finding:
        place = f"{self.place}.{part}" if part else self.place
        line, column = at or (None, None)
        return Finding(code, severity, self.rule.name, place, text, remedy, line, column)


@dataclass(frozen=True)
class Contract:
    """A rule set with the schema that it is for.

    Attributes:
        version: The schema.
        rule_set: The rules.
        metadata: The schema's metadata.
        previous: The version before, whose data migration rules read; None if there is none.
        earlier: Versions that may have written the data, the one before included.
        extra_types: Further types of rules and actions that clients have executors for.
        spend: Called before each expression with its length; it may raise to end a check that takes too long.
    """

    version: SchemaVersion
    rule_set: RuleSet
    metadata: Metadata | None = None
    previous: SchemaVersion | None = None
    earlier: tuple[SchemaVersion, ...] = ()
    extra_types: frozenset[str] = frozenset()
    spend: Callable[[int], None] = field(default=lambda _: None, compare=False)

    @cached_property
    def rules(self) -> tuple[PlacedRule, ...]:
        """All rules in order."""
        return tuple(
            PlacedRule(rule, phase, index)
            for phase, rules, _ in self.rule_set.groups
            for index, rule in enumerate(rules)
        )

    @property
    def enabled(self) -> Iterator[PlacedRule]:
        """The rules that are not disabled."""
        return (placed for placed in self.rules if not placed.rule.disabled)

    @cached_property
    def walk(self) -> FieldWalk:
        """The fields of the schema.

        Raises:
            InvalidSchema: A text is not a schema of its type.
        """
        return field_walk(self.version.schema, self.version.dependencies, self.metadata)

    def parameters(self, rule: Rule) -> Mapping[str, str]:
        """The parameters of a rule: its own, then the properties of the metadata."""
        return {**(self.metadata.properties if self.metadata is not None else {}), **rule.params}
