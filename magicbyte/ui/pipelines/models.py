"""The JSON of `GET /ui/pipelines.json` as types, from which openapi/ui.yaml is made."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

Number = int | float
#: A time.
Milliseconds = Annotated[Number | None, Field(description="In ms since the epoch")]
Counts = dict[str, Number]


class InputLag(TypedDict):
    """The lag of a partition: the number of its records after the last batch."""

    topic: str
    partition: int
    records: Number


class StepState(TypedDict):
    """The state of a step."""

    operator: Annotated[str, Field(description="The step's place in Spark's plan, and Spark's name")]
    rows: Number | None
    bytes: Annotated[Number | None, Field(description="In memory and files")]
    late: Annotated[Number | None, Field(description="Rows that came after the watermark")]


class Figures(TypedDict):
    """The metrics of a pipeline; null or empty is what its port does not tell."""

    batch: Annotated[Number | None, Field(description="The number of the last batch")]
    writtenAt: Milliseconds
    seconds: Annotated[Number | None, Field(description="Duration of the last batch")]
    rows: Annotated[Counts, Field(description="Rows since the run began, by outcome: read, written, dead, dropped, ..")]
    lag: Annotated[Number | None, Field(description="Records behind the last batch")]
    lagByTopic: Counts
    topicsLeftOut: Annotated[int, Field(description="Number of topics that `lagByTopic` does not list")]
    partitions: NotRequired[Annotated[list[InputLag], Field(description="Only with `name`")]]
    lagSeconds: Annotated[Number | None, Field(description="The age of the newest record of the last batch at its end")]
    eventTime: Milliseconds
    failedChecks: Annotated[Counts, Field(description="Rows that failed a check, by check")]
    schemaIds: NotRequired[Annotated[Counts, Field(description="Records by schema id; only with `name`")]]
    restarts: Number | None
    late: Annotated[Number | None, Field(description="Rows that came after the watermark, of all steps")]
    steps: NotRequired[Annotated[list[StepState], Field(description="Only with `name`")]]
    unmatched: Annotated[Counts, Field(description="Rows without a value in a joined topic, by step")]
    watermark: Milliseconds
    beganAt: Milliseconds
    file: Annotated[str | None, Field(description="The file that the run was started with")]
    sinks: Annotated[str | None, Field(description="The sinks")]
    deadLetters: Annotated[str | None, Field(description="The topic of dead letters")]


class Health(TypedDict):
    """The answer of the port's `/health`."""

    status: Literal["starting", "running", "ended", "stuck", "failed"]
    idleSeconds: Annotated[Number | None, Field(description="Seconds since the last progress")]
    batch: Annotated[int | None, Field(description="The last batch that this run finished")]


class NextOffset(TypedDict):
    """The offset at which the next batch begins in a partition of the source."""

    topic: str
    partition: int
    next: int


class Sink(TypedDict):
    """The last batch in a Kafka sink, by its marker."""

    sink: Annotated[str, Field(description="The topic, or the expression that names it")]
    query: str
    batch: int
    time: Milliseconds
    written: int
    refused: Annotated[int, Field(description="Rows that the topic did not take; they are dead letters")]
    writers: int
    behind: Annotated[int, Field(description="Writers that have not written the batch")]
    inputs: NotRequired[Annotated[list[NextOffset], Field(description="Only with `name`")]]


class Change(TypedDict):
    """The last change of schemas or columns that the pipeline posted."""

    time: Milliseconds
    batch: int
    schemas: Annotated[dict[str, int | None], Field(description="The version by schema id")]
    statements: Annotated[list[str], Field(description="What changed the targets, such as ALTER TABLE")]


class Pipeline(TypedDict):
    """A pipeline, or a port that no pipeline is known of."""

    name: str | None
    address: Annotated[str | None, Field(description="The URL of its metrics port")]
    state: Annotated[
        Literal["healthy", "unhealthy", "unreachable", "marker"],
        Field(
            description="`healthy`, `unhealthy`: what `/health` says. `unreachable`: the port gave no answer that can "
            "be read. `marker`: no port is known, and markers tell of the pipeline"
        ),
    ]
    reason: Annotated[str, Field(description="Why it is unhealthy or unreachable")]
    health: Health | None
    figures: Annotated[Figures | None, Field(description="The figures of the port's last answer")]
    figuresAt: Milliseconds
    sinks: list[Sink]
    change: Change | None


class Markers(TypedDict):
    """The markers that the sender may see."""

    state: Annotated[
        Literal["read", "partial", "missing", "forbidden", "unavailable", "none"],
        Field(
            description="`partial`: the next request reads on. `missing`: there is no topic of markers. `forbidden`: "
            "the sender may not read it. `unavailable`: the REST proxy does not answer. `none`: there is no REST proxy"
        ),
    ]
    reason: str
    unreadable: Annotated[int, Field(description="Records that are not as pipelines write them")]


class Pipelines(TypedDict):
    """The pipelines."""

    now: Annotated[int, Field(description="The server's time, in ms since the epoch")]
    configured: Annotated[int, Field(description="Number of ports that `magicbyte.ui.pipelines` names")]
    markers: Markers
    pipelines: list[Pipeline]
    leftOut: Annotated[int, Field(description="Number of pipelines that are not listed")]
