"""Settings of the page at /ui, for every server that serves it."""

from __future__ import annotations

import re
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field

from magicbyte.http.metrics_ports import PART, MetricsPort, metrics_ports
from magicbyte.http.settings import HttpSettings
from magicbyte.kit.settings import patterns
from magicbyte.kit.settings.property_words import Takes
from magicbyte.kit.settings.server import ByteSize, Milliseconds

_COLOR = "#[0-9A-Fa-f]{6}"


def _url(value: str) -> str:
    parts = urlsplit(value)
    if value and (parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment):
        raise ValueError("not an http URL; write it as http://localhost:8082")
    if parts.username is not None or parts.password is not None:
        raise ValueError("the URL must not contain a user name or password; the browser's credentials are passed on")
    return value.rstrip("/")


def _color(value: str) -> str:
    if value and not re.fullmatch(_COLOR, value):
        raise ValueError("not a color; write it as #ae231c")
    return value.lower()


class PageSettings(HttpSettings):
    """The page's name, what it may change, the limits of its messages, and the REST proxy behind it."""

    title = "Page at /ui/"

    page_enabled: bool = Field(True, alias="magicbyte.ui.enabled", description="Whether there is a page.")
    page_read_only: bool = Field(
        False,
        alias="magicbyte.ui.read.only",
        description="Whether the page shows no controls that write, and `/ui/rest/` refuses writes with 403.",
    )
    rest_url: Annotated[str, AfterValidator(_url), Takes("a URL")] = Field(
        "",
        alias="magicbyte.ui.rest.url",
        description="The REST proxy, for topics and messages (`--rest-url`). `magicbyte up` sets it.",
    )
    pipeline_ports: Annotated[
        tuple[MetricsPort, ...],
        BeforeValidator(metrics_ports),
        Takes("URLs with commas between, each perhaps as `NAME=URL`", schema=patterns.list_of(PART)),
    ] = Field(
        (),
        alias="magicbyte.ui.pipelines",
        description="The metrics ports of pipelines (`pipeline run --metrics`), such as `http://127.0.0.1:9109`, for"
        " `/ui/pipelines` (`--pipelines`). `NAME=` says whose port it is, while the port does not answer. At most 100.",
    )
    page_name: str = Field(
        "", alias="magicbyte.ui.name", description="A name at the top of the page, such as `production`.", max_length=40
    )
    #: Limits of a request to `/ui/decode`, `/ui/encode` and `/ui/example`, which a worker process answers.
    messages_cpu_ms: Milliseconds = Field(
        5_000,
        alias="magicbyte.ui.messages.cpu.ms",
        description="The processor time of a request to `/ui/decode`, `/ui/encode` or `/ui/example`.",
        gt=0,
    )
    messages_timeout_ms: Milliseconds = Field(
        20_000,
        alias="magicbyte.ui.messages.timeout.ms",
        description="Its time from the moment when it has a worker process.",
        gt=0,
    )
    messages_memory_bytes: ByteSize = Field(
        512 << 20,
        alias="magicbyte.ui.messages.memory.bytes",
        description="The memory of its worker process.",
        ge=128 << 20,
    )
    messages_max_bytes: ByteSize = Field(
        16 << 20, alias="magicbyte.ui.messages.max.bytes", description="The size of the items of an answer.", gt=0
    )
    messages_workers: int = Field(
        2,
        alias="magicbyte.ui.messages.workers",
        description="Maximum number of these requests that run at once; one more of another client runs beside them.",
        ge=1,
    )
    messages_waiting: int = Field(
        8,
        alias="magicbyte.ui.messages.waiting.max.per.client",
        description="Maximum number of these requests of one client that wait; a further one gets 429.",
        ge=0,
    )
    #: Limits of a request to `/ui/messages`, which scans a topic.
    scans: int = Field(
        4,
        alias="magicbyte.ui.scans",
        description="Maximum number of requests to `/ui/messages`, and of requests to `/ui/dead-letters`, that read"
        " topics at once; two more of clients without one run beside them.",
        ge=1,
    )
    scan_max_records: int = Field(
        1_000_000,
        alias="magicbyte.ui.scan.max.records",
        description="Maximum number of records that one of these requests searches; the page goes on with the next"
        " request.",
        ge=1,
    )
    scan_max_bytes: ByteSize = Field(
        1 << 30,
        alias="magicbyte.ui.scan.max.bytes",
        description="Maximum number of bytes of records that it searches.",
        gt=0,
    )
    scan_timeout_ms: Milliseconds = Field(
        120_000, alias="magicbyte.ui.scan.timeout.ms", description="Longest time for which it searches.", gt=0
    )
    relayed_requests: int = Field(
        24,
        alias="magicbyte.ui.relay.requests.max",
        description="Maximum number of requests that the page sends to each server behind it at once; eight more of"
        " clients without one go beside them.",
        ge=1,
    )
    relayed_waiting: int = Field(
        64,
        alias="magicbyte.ui.relay.waiting.max.per.client",
        description="Maximum number of these requests of one client that wait; a further one gets 429.",
        ge=0,
    )
    page_events_per_client: int = Field(
        16,
        alias="magicbyte.ui.events.max.per.client",
        description="Maximum number of `/events` that a client follows through `magicbyte ui`; a further one gets 429."
        " All clients together may follow 512.",
        ge=1,
        le=512,
    )
    page_color: Annotated[str, AfterValidator(_color), Takes("`#RRGGBB`", schema=patterns.texts(f"(?:{_COLOR})?"))] = (
        Field("", alias="magicbyte.ui.color", description="The color of the name, such as `#ae231c`.")
    )
