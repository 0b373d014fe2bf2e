"""Jobs: tasks for schemas and their answers, as values that can be sent to another process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from compat.budget import MAX_STEPS
from compat.level import Policy
from compat.schema import AVRO, JSON, PROTOBUF, Dependencies, Position, SchemaText
from registry.tags import SchemaEntity

#: How long all comparisons and explanations of a request may take, in seconds; usually the limit on steps comes first.
COMPARING_SECONDS = 1.2
#: How long an outline may take, in seconds. Its nodes are limited and the text is scanned once: 3 MB take 0.9 s, and a
#: processor whose other thread is busy takes twice as long.
OUTLINING_SECONDS = 5.0
#: The steps (`compat.budget`) per parsed character, by type; strict parsing takes up to twice as many.
_STEPS_A_CHARACTER = {AVRO: 0.1, JSON: 0.5, PROTOBUF: 0.5}
_STEPS_A_DEPENDENCY = 10

#: Tags in a job: entities with their tags.
TagList = tuple[tuple[SchemaEntity, tuple[str, ...]], ...]

# Tasks for a schema


class Canonicalize(Struct, frozen=True, tag=True):
    """Find the text to store for the schema; the answer is Canonical.

    Attributes:
        strict: Apply the checks for new schemas.
        normalize: Store the normalised text.
        check_fields: Apply those checks of `validateFields` that need no other schema.
    """

    strict: bool
    normalize: bool = False
    check_fields: bool = False


class Judge(Struct, frozen=True, tag=True):
    """Compare the schema with the job's earlier versions; the answer is Compared.

    Attributes:
        level: The name of the compatibility level.
        policy: The compatibility policy.
        validate_fields: Whether `validateFields` is on.
        reserved: The reserved fields of the schema, and those of the previous version.
        explain: Explain each difference.
        every: Compare with all versions in both directions, whatever the level is; the verdict is that of the level.
    """

    level: str
    policy: Policy
    validate_fields: bool = False
    reserved: tuple[str | None, str | None] = (None, None)
    explain: bool = False
    every: bool = False


class EditTags(Struct, frozen=True, tag=True):
    """Edit tags in the schema, then copy those of the job's latest version for entities that both have.

    The answer is Rendered.
    """

    add: TagList = ()
    remove: TagList = ()


class Render(Struct, frozen=True, tag=True):
    """Print the schema in a form; the answer is Rendered."""

    form: str


class FindTags(Struct, frozen=True, tag=True):
    """Find tags in the schema; the answer is TagsFound.

    Attributes:
        names: The tags to look for; `*` for all.
    """

    names: frozenset[str]


class FindSame(Struct, frozen=True, tag=True):
    """Find the newest of the job's earlier versions that is the same schema with another text; the answer is SameFound.

    Attributes:
        normalized: The schema is to be stored normalised.
    """

    normalized: bool


class MakeOutline(Struct, frozen=True, tag=True):
    """Make the outline of the schema; the answer is OutlineMade."""


class CompareOutlines(Struct, frozen=True, tag=True):
    """Compare the schema with the job's only earlier version, in both directions; the answer is OutlinesCompared.

    Attributes:
        policy: The compatibility policy.
        number: The number of the schema, if it is a version.
        searches: Search for fixes and for data that show what breaks.
    """

    policy: Policy
    number: int | None = None
    searches: bool = True


class CheckRules(Struct, frozen=True, tag=True):
    """Check a rule set for the schema; the answer is RulesChecked.

    The job's earlier versions are those that may have written the data.

    Attributes:
        contract: The rule set and the metadata, as the JSON object of a request with them.
        extra_types: Further types of rules and actions.
    """

    contract: bytes
    extra_types: frozenset[str] = frozenset()


class PlanRules(Struct, frozen=True, tag=True):
    """Tell in which order the rules of the schema are carried out, and on which fields; the answer is RulesPlanned.

    Attributes:
        contract: The rule set and the metadata, as the JSON object of a request with them.
        origins: The origin of each rule that the schema did not bring itself: its name, and `default` or `override`.
    """

    contract: bytes
    origins: tuple[tuple[str, str], ...] = ()


Task = (
    Canonicalize
    | Judge
    | EditTags
    | Render
    | FindTags
    | FindSame
    | MakeOutline
    | CompareOutlines
    | CheckRules
    | PlanRules
)

# Jobs


def parse_steps(schema_type: str, characters: int) -> int:
    """About how many steps of a budget parsing takes."""
    return int(characters * _STEPS_A_CHARACTER.get(schema_type, 1.0))


class Text(Struct, frozen=True):
    """A schema with the texts that it refers to."""

    schema: SchemaText
    dependencies: Dependencies = ()

    @property
    def steps(self) -> int:
        """About how many steps of a budget parsing takes."""
        schema, dependencies = self.schema, self.dependencies
        characters = len(schema.text)
        if dependencies:
            characters += sum([len(dependency.text) for dependency in dependencies])
        return parse_steps(schema.schema_type, characters) + _STEPS_A_DEPENDENCY * len(dependencies)


class Earlier(Struct, frozen=True):
    """An earlier version to compare with; without a text, `problem` says why it can't be read."""

    number: int
    text: Text | None
    problem: str = ""


class Job(Struct, frozen=True, tag=True):
    """A task for a schema.

    Attributes:
        text: The schema.
        task: The task.
        latest: The latest version, if its tags are to be copied.
        earlier: The versions to compare with, oldest first.
        is_cut: Older versions were left out because reading them would exceed a whole budget.
        steps: How many steps comparing and explaining may take: the rest that earlier jobs of the request have left.
        seconds: How many seconds they may take.
    """

    text: Text
    task: Task
    latest: Text | None = None
    earlier: tuple[Earlier, ...] = ()
    is_cut: bool = False
    steps: int = MAX_STEPS
    seconds: float = COMPARING_SECONDS


class Listing(Struct, frozen=True, tag=True):
    """Find the names in stored texts, for searches; the answer is NamesFound."""

    schemas: tuple[SchemaText, ...]


# Answers


class Canonical(Struct, frozen=True, tag=True):
    """The text to store.

    Attributes:
        text: The text.
        fault: The fault that `check_fields` found; empty if none.
        older_text: The other text that the log may have for the same schema; empty if there is none.
    """

    text: str
    fault: str = ""
    older_text: str = ""


class VersionVerdict(Struct, frozen=True):
    """Whether the schema reads the data of an earlier version, and whether that version reads the schema's data."""

    version: int
    backward: bool
    forward: bool


class Compared(Struct, frozen=True, tag=True):
    """The reference's messages, none if the schema is compatible, and explanations if the task has `explain`.

    `notes` say how the schema was judged; in an error they follow the messages. With `every`, `versions` has all
    versions that
    were compared, newest first, and `is_cut` tells whether older versions or explanations are left out.
    """

    messages: tuple[str, ...] = ()
    explanations: tuple[dict[str, Any], ...] = ()
    notes: tuple[str, ...] = ()
    versions: tuple[VersionVerdict, ...] = ()
    is_cut: bool = False

    @property
    def compatible(self) -> bool:
        """Whether the schema is compatible."""
        return not self.messages


class Rendered(Struct, frozen=True, tag=True):
    """A schema's text, edited or printed in a form."""

    text: str


class TagsFound(Struct, frozen=True, tag=True):
    """The entities that have such tags, sorted, as the JSON list of the API; empty if there are none.

    It is JSON so that the event loop need not make an object of each of tens of thousands.
    """

    json: bytes


class SameFound(Struct, frozen=True, tag=True):
    """The number of the version whose references the schema spells out; None if there is none."""

    number: int | None


class OutlineMade(Struct, frozen=True, tag=True):
    """The outline of a schema: how many nodes it has, whether it is cut, and the tree as JSON."""

    nodes: int
    is_cut: bool
    tree: bytes


class OutlinesCompared(Struct, frozen=True, tag=True):
    """A comparison of two schemas: the members of its JSON object except the changes, and the changes as JSON."""

    summary: dict[str, Any]
    changes: bytes


class RulesChecked(Struct, frozen=True, tag=True):
    """The findings about a rule set, as objects of the API; those for which it is refused come first."""

    findings: tuple[dict[str, Any], ...] = ()


class RulesPlanned(Struct, frozen=True, tag=True):
    """The order of the rules, as JSON."""

    plan: bytes


class Names(Struct, frozen=True, gc=False):
    """The names in a schema.

    Attributes:
        name: The schema's full name; None if it has none or can't be read.
        fields: The paths of its fields as lines of one string, which takes a fraction of the memory of many strings. A
            tuple if a path contains a line break.
        tags: The paths of records and fields that have tags, with their tags.
    """

    name: str | None = None
    fields: str | tuple[str, ...] = ""
    tags: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def field_paths(self) -> Sequence[str]:
        """The paths of the fields."""
        if isinstance(self.fields, tuple):
            return self.fields
        return self.fields.split("\n") if self.fields else ()


class NamesFound(Struct, frozen=True, tag=True):
    """The names of each text, in order."""

    names: tuple[Names, ...]


class Invalid(Struct, frozen=True, tag=True):
    """The parser's reason for refusing a text, and the place, if known."""

    schema_type: str
    detail: str
    position: Position | None = None


class Unknown(Struct, frozen=True, tag=True):
    """The error text about an entity to tag that the schema does not have."""

    detail: str


class TooMuch(Struct, frozen=True, tag=True):
    """The job exceeds the budget."""


class Done(Struct, frozen=True):
    """A reply, and the steps and seconds that the job has left over."""

    reply: Reply
    steps: int = MAX_STEPS
    seconds: float = COMPARING_SECONDS


Answer = (
    Canonical
    | Compared
    | Rendered
    | TagsFound
    | SameFound
    | OutlineMade
    | OutlinesCompared
    | RulesChecked
    | RulesPlanned
)
Refusal = Invalid | Unknown | TooMuch
Reply = Answer | NamesFound | Refusal

_ENCODER = msgspec.msgpack.Encoder()
_JOBS: msgspec.msgpack.Decoder[Job | Listing] = msgspec.msgpack.Decoder(Job | Listing)
_DONE: msgspec.msgpack.Decoder[Done] = msgspec.msgpack.Decoder(Done)


def encode(message: Job | Listing | Done) -> bytes:
    """Encode a job or its outcome."""
    return _ENCODER.encode(message)


def decode_job(raw: bytes) -> Job | Listing:
    """Decode a job."""
    return _JOBS.decode(raw)


def decode_done(raw: bytes) -> Done:
    """Decode the outcome of a job."""
    return _DONE.decode(raw)
