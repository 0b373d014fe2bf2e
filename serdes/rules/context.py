"""The context of a rule: the schema that has it, its settings, and the message that it is carried out on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

from compat.contracts.model import Metadata, Rule
from compat.contracts.walk.leaf import FieldWalk
from compat.schema import Dependencies, ParsedSchema, SchemaText
from serdes.rules.settings import RuleSettings

if TYPE_CHECKING:
    from serdes.client.models import RegisteredSchema, SchemaInfo

WRITE = "WRITE"
READ = "READ"
UPGRADE = "UPGRADE"
DOWNGRADE = "DOWNGRADE"

#: The lists of a rule set by their names on the wire.
MIGRATION_RULES = "migrationRules"
DOMAIN_RULES = "domainRules"
ENCODING_RULES = "encodingRules"


@dataclass(frozen=True, slots=True)
class Ruled:
    """A schema and the rules that the registry has for it.

    Attributes:
        name: The schema's name in error texts.
        schema: The schema's text.
        rule_set: The rules as JSON of the API; None if there are none.
        metadata: The metadata as JSON of the API; None if there are none.
        dependencies: The schemas that the schema refers to.
        subject: The subject that the schema is used for; None if it is not known.
        schema_id: The schema's id; None if it is not known.
        version: The schema's version in the subject; None if it is not known.
    """

    name: str
    schema: SchemaText
    rule_set: Mapping[str, Any] | None = field(default=None, hash=False)
    metadata: Mapping[str, Any] | None = field(default=None, hash=False)
    dependencies: Dependencies = ()
    subject: str | None = None
    schema_id: int | None = None
    version: int | None = None

    @classmethod
    def of(cls, name: str, held: RegisteredSchema | SchemaInfo, dependencies: Dependencies) -> Self:
        """A schema as the registry has it."""
        return cls(name, held.schema, held.rule_set, held.metadata, dependencies, held.subject, held.id, held.version)


@dataclass(slots=True)
class Message:
    """The message that rules are carried out on.

    Attributes:
        subject: The subject of its schema.
        topic: The topic; None if the caller named none.
        is_key: Whether it is the key of a record.
        headers: The record's headers: pairs, a mapping, or None.
        original: The datum before all rules on WRITE, the bytes as they came (with the frame) on READ.
        caller_context: The context that the caller of the serializer or deserializer passed; None if there is none.
        key: The key of the same record, if its serializer or deserializer ran before in this thread or task.
    """

    subject: str
    topic: str | None
    is_key: bool
    headers: Any
    original: Any
    caller_context: Any = None
    key: Any = None


@dataclass(frozen=True, slots=True)
class RuleContext:
    """The rule, its place and its settings, when a plan is made.

    Attributes:
        rule: The rule.
        mode: The operation: WRITE, READ, UPGRADE or DOWNGRADE.
        phase: The list that holds the rule: `migrationRules`, `domainRules` or `encodingRules`.
        ruled: The schema that has the rule.
        settings: The settings of rules.
        rules: The rules of the list, in the order in which they are carried out.
        index: The rule's place in this list.
        metadata: The schema's metadata.
        source: For a migration, the schema that the message comes from; else None.
        walk: Returns the fields of the schema, which are read when the first rule needs them.
        parsed: Returns the parsed schema; it raises InvalidSchema.
    """

    rule: Rule
    mode: str
    phase: str
    ruled: Ruled
    settings: RuleSettings
    walk: Callable[[], FieldWalk]
    parsed: Callable[[], ParsedSchema]
    rules: tuple[Rule, ...] = ()
    index: int = 0
    metadata: Metadata = field(default_factory=Metadata)
    source: Ruled | None = None

    @property
    def type(self) -> str:
        """The rule's type in upper case, by which executors are found."""
        return (self.rule.type or "").upper()

    @property
    def is_condition(self) -> bool:
        """Whether the rule tests a message; else it changes it. A rule without a kind changes it."""
        return self.rule.kind == "CONDITION"

    def parameter(self, name: str) -> str | None:
        """A parameter: the rule's, else the property of the schema's metadata; None if neither has it."""
        value = self.rule.params.get(name)
        return self.metadata.properties.get(name) if value is None else value

    def with_parameters(self, parameters: Mapping[str, Any]) -> Self:
        """The same rule with further parameters of executors; those of the settings win."""
        return replace(self, settings=self.settings.with_defaults(parameters))

    @property
    def configuration(self) -> Mapping[str, Any]:
        """The settings of the rule's executor: those of its name before those of its type before the default ones."""
        return self.settings.parameters(self.rule.name or "", self.type)


#: Carries a compiled rule out on a datum: a condition returns whether it holds, another rule the new datum.
CarryOut = Callable[[Any, Message], Any]
