"""Models of findings about rules, and of the order in which rules are carried out."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict


class RuleFinding(TypedDict):
    """Something wrong, or probably not meant, with a rule set."""

    code: Annotated[str, Field(description="The check, such as `cel-syntax`.")]
    severity: Annotated[Literal["refuse", "warn"], Field(description="`refuse`: a registration is refused (42210).")]
    rule: NotRequired[Annotated[str, Field(description="The name of the rule.")]]
    place: Annotated[str, Field(description="The place in the request, such as `ruleSet.domainRules[2].expr`.")]
    line: NotRequired[Annotated[int, Field(ge=1)]]
    column: NotRequired[Annotated[int, Field(ge=1)]]
    text: str
    remedy: str


class RuleFindings(TypedDict):
    """The findings about a rule set; those for which it is refused come first."""

    findings: list[RuleFinding]


class TouchedField(TypedDict):
    """A field that a rule selects."""

    name: Annotated[str, Field(description="The full name.")]
    type: str
    tags: list[str]


class PlannedRule(TypedDict):
    """A rule that is carried out."""

    name: str
    type: str
    list: Literal["migrationRules", "domainRules", "encodingRules"]
    origin: Annotated[Literal["default", "own", "override"], Field(description="The config, or the schema itself.")]
    kind: Literal["TRANSFORM", "CONDITION"]
    expr: NotRequired[str]
    tags: NotRequired[list[str]]
    onSuccess: str
    onFailure: str
    fields: NotRequired[Annotated[list[TouchedField], Field(description="The fields that its tags select.")]]
    reads: NotRequired[
        Annotated[list[str], Field(description="The fields that a CEL rule reads; `*` is the whole message.")]
    ]


class PlannedMode(TypedDict):
    """The rules of a mode, in order."""

    mode: Literal["WRITE", "READ", "UPGRADE", "DOWNGRADE"]
    rules: list[PlannedRule]


class SkippedRule(TypedDict):
    """A rule that is not carried out."""

    mode: Literal["WRITE", "READ", "UPGRADE", "DOWNGRADE"]
    name: str
    type: str
    list: Literal["migrationRules", "domainRules", "encodingRules"]
    origin: Literal["default", "own", "override"]
    reason: str


class RulesPlan(TypedDict):
    """The order in which the rules of a version are carried out."""

    subject: str
    version: int
    id: int
    enableAt: str
    modes: list[PlannedMode]
    skipped: list[SkippedRule]
