"""Jobs: what there is to find out about schemas, as values that another process can be sent; and their answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from compat.budget import MAX_STEPS
from compat.level import Policy
from compat.schema import Dependencies, SchemaText
from registry.offload.parsing import parse_steps
from registry.tags import SchemaEntity

#: How long all comparisons and explanations of a request may take, in seconds. On an idle machine the steps take less.
COMPARING_SECONDS = 1.2
_STEPS_A_DEPENDENCY = 10

#: Tags as jobs carry them: each entity with its tags.
TagList = tuple[tuple[SchemaEntity, tuple[str, ...]], ...]

# Tasks: what is to be done with a schema


class Outline(Struct, frozen=True, tag=True):
    """Find what is stored of the schema: answered by Outlined.

    Attributes:
        strict: Check what only new schemas must satisfy.
        normalize: Store the normalised text.
        check_fields: Check what `validateFields` asks of a schema by itself.
    """

    strict: bool
    normalize: bool = False
    check_fields: bool = False


class Judge(Struct, frozen=True, tag=True):
    """Compare the schema with the job's earlier versions: answered by Compared.

    Attributes:
        level: The compatibility level's name.
        policy: The compatibility policy.
        validate_fields: The setting of that name.
        reserved: The reserved fields of the schema, and of the version before.
        explain: Explain each difference.
    """

    level: str
    policy: Policy
    validate_fields: bool = False
    reserved: tuple[str | None, str | None] = (None, None)
    explain: bool = False


class EditTags(Struct, frozen=True, tag=True):
    """Write tags into the schema, and the tags of the job's latest version for the entities that both have.

    Answered by Rendered.
    """

    add: TagList = ()
    remove: TagList = ()


class Render(Struct, frozen=True, tag=True):
    """Print the schema in a form: answered by Rendered."""

    form: str


class FindTags(Struct, frozen=True, tag=True):
    """Find tags in the schema: answered by TagsFound.

    Attributes:
        wanted: The tags to look for; `*` stands for all.
    """

    wanted: frozenset[str]


class FindSpelledOut(Struct, frozen=True, tag=True):
    """Find the newest of the job's earlier versions that the schema spells out: answered by SpelledOut.

    Attributes:
        normalized: Compare both as they are normalised.
    """

    normalized: bool


Task = Outline | Judge | EditTags | Render | FindTags | FindSpelledOut

# Jobs


class Text(Struct, frozen=True):
    """A schema with the texts that it refers to."""

    schema: SchemaText
    dependencies: Dependencies = ()

    @property
    def steps(self) -> int:
        """About what parsing takes of a budget."""
        schema, dependencies = self.schema, self.dependencies
        characters = len(schema.text)
        if dependencies:
            characters += sum([len(dependency.text) for dependency in dependencies])
        return parse_steps(schema.schema_type, characters) + _STEPS_A_DEPENDENCY * len(dependencies)


class Earlier(Struct, frozen=True):
    """An earlier version to compare with; `problem` says why it has no text that can be read."""

    number: int
    text: Text | None
    problem: str = ""


class Job(Struct, frozen=True, tag=True):
    """A task for a schema.

    Attributes:
        text: The schema.
        task: What is to be done with it.
        latest: The latest version, if its tags are taken over.
        earlier: The versions to compare with, oldest first.
        is_cut: There are older versions, but reading them would take more than a whole budget.
        steps: How many steps comparing and explaining may take: what the request's earlier jobs left of its bound.
        seconds: How many seconds.
    """

    text: Text
    task: Task
    latest: Text | None = None
    earlier: tuple[Earlier, ...] = ()
    is_cut: bool = False
    steps: int = MAX_STEPS
    seconds: float = COMPARING_SECONDS


class Listing(Struct, frozen=True, tag=True):
    """Find the names in stored texts, for searches: answered by NamesFound."""

    schemas: tuple[SchemaText, ...]


# Answers


class Outlined(Struct, frozen=True, tag=True):
    """The text that is stored, and what is wrong with its fields."""

    text: str
    fault: str = ""


class Compared(Struct, frozen=True, tag=True):
    """The reference's messages, none if all is compatible, and the explanations, if they were asked for.

    `notes` say how it was judged; they follow the messages.
    """

    messages: tuple[str, ...] = ()
    explanations: tuple[dict[str, Any], ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def compatible(self) -> bool:
        """Whether the new schema may follow."""
        return not self.messages


class Rendered(Struct, frozen=True, tag=True):
    """A schema's text, edited or in a form."""

    text: str


class TagsFound(Struct, frozen=True, tag=True):
    """The entities that have such tags, sorted, as the JSON of the API's list; empty if there are none.

    It is JSON because there may be tens of thousands, and the event loop is to make no objects of them.
    """

    json: bytes


class SpelledOut(Struct, frozen=True, tag=True):
    """The number of the version that the schema spells out; None if there is none."""

    number: int | None


class Names(Struct, frozen=True, gc=False):
    """The names in a schema.

    Attributes:
        name: The schema's full name; None if it has none, or cannot be read.
        fields: The paths of its fields, each on a line: one string takes a fraction of the memory of many. A tuple if
            a path has a line break in it.
        tags: The paths of records and fields that have tags, with these.
    """

    name: str | None = None
    fields: str | tuple[str, ...] = ""
    tags: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def field_paths(self) -> Sequence[str]:
        """The paths of the fields, one by one."""
        if isinstance(self.fields, tuple):
            return self.fields
        return self.fields.split("\n") if self.fields else ()


class NamesFound(Struct, frozen=True, tag=True):
    """The names of each text, in order."""

    names: tuple[Names, ...]


class Invalid(Struct, frozen=True, tag=True):
    """A text that its type's parser refuses, and why."""

    schema_type: str
    detail: str


class Unknown(Struct, frozen=True, tag=True):
    """An entity to tag that the schema does not have, as a sentence."""

    detail: str


class TooMuch(Struct, frozen=True, tag=True):
    """Work beyond the budget."""


class Done(Struct, frozen=True):
    """A reply, and what is left of the steps and seconds that the job was given."""

    reply: Reply
    steps: int = MAX_STEPS
    seconds: float = COMPARING_SECONDS


Answer = Outlined | Compared | Rendered | TagsFound | SpelledOut
Refusal = Invalid | Unknown | TooMuch
Reply = Answer | NamesFound | Refusal

_ENCODER = msgspec.msgpack.Encoder()
_JOBS: msgspec.msgpack.Decoder[Job | Listing] = msgspec.msgpack.Decoder(Job | Listing)
_DONE: msgspec.msgpack.Decoder[Done] = msgspec.msgpack.Decoder(Done)


def encode(message: Job | Listing | Done) -> bytes:
    """The bytes of a job, or of what came of it."""
    return _ENCODER.encode(message)


def decode_job(raw: bytes) -> Job | Listing:
    """The job that bytes stand for."""
    return _JOBS.decode(raw)


def decode_done(raw: bytes) -> Done:
    """What came of a job."""
    return _DONE.decode(raw)
