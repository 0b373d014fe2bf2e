"""The JSON of requests and answers as types, from which openapi/registry.yaml is made."""

from typing import Annotated, Any

from pydantic import Field

from registry.http.models.listings import (
    Graph,
    Health,
    HeldVersions,
    Hit,
    ImportReport,
    Overview,
    SteppedDown,
    WordHits,
)
from registry.http.models.outlines import Comparison, FailedComparison, Outline
from registry.http.models.repair import RepairReport, RepairRequest
from registry.http.models.rules import RuleFindings, RulesPlan
from registry.http.models.schemas import (
    ContextId,
    RegisteredSchema,
    RegisterSchemaRequest,
    Schema,
    SchemaString,
    SubjectVersion,
    TagSchemaRequest,
)
from registry.http.models.settings import (
    AccessRule,
    Config,
    ConfigUpdateRequest,
    Mode,
    ModeUpdateRequest,
    Rights,
    RuleChange,
)
from registry.http.models.verdicts import Error, Verdict

__all__ = [
    "AccessRule",
    "Comparison",
    "Config",
    "ConfigUpdateRequest",
    "Error",
    "Graph",
    "Health",
    "HeldVersions",
    "ImportReport",
    "Mode",
    "ModeUpdateRequest",
    "Outline",
    "Overview",
    "RegisterSchemaRequest",
    "RegisteredSchema",
    "RepairReport",
    "RepairRequest",
    "Rights",
    "RuleChange",
    "RuleFindings",
    "RulesPlan",
    "Schema",
    "SchemaString",
    "SteppedDown",
    "TagSchemaRequest",
    "Verdict",
]

AnyObject = dict[str, Any]
Names = Annotated[list[str], Field(description="The names.")]
Integers = Annotated[list[int], Field(description="The numbers.")]
Integer = Annotated[int, Field(description="The number.")]
Text = Annotated[Any, Field(description="The text: JSON for Avro and JSON Schema, not for Protobuf.")]
SchemaOrPlan = Annotated[
    Schema | RulesPlan, Field(description="The version; with `explain=rules`, the plan of its rules.")
]
Schemas = Annotated[list[Schema], Field(description="The versions.")]
SubjectVersions = Annotated[list[SubjectVersion], Field(description="The versions.")]
ContextIds = Annotated[list[ContextId], Field(description="The ids.")]
AccessRules = Annotated[list[AccessRule], Field(description="Access rules, sorted by their parts.")]
Hits = Annotated[list[Hit] | WordHits, Field(description="The versions.")]
Comparisons = Annotated[
    Comparison | list[Comparison | FailedComparison],
    Field(description="The comparison; with `consecutive=true`, a list."),
]
