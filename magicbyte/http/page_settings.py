"""Settings of the page at /ui, for every server that serves it."""

from __future__ import annotations

import re
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from magicbyte.http.settings import HttpSettings

_COLOR = re.compile(r"#[0-9A-Fa-f]{6}")


def _url(value: str) -> str:
    parts = urlsplit(value)
    if value and (parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment):
        raise ValueError("not an http URL; write it as http://localhost:8082")
    if parts.username is not None or parts.password is not None:
        raise ValueError("the URL must not contain a user name or password; the browser's credentials are passed on")
    return value.rstrip("/")


def _color(value: str) -> str:
    if value and not _COLOR.fullmatch(value):
        raise ValueError("not a color; write it as #ae231c")
    return value.lower()


class PageSettings(HttpSettings):
    """The page's name, what it may change, the limits of its messages, and the REST proxy behind it."""

    page_enabled: bool = Field(True, alias="magicbyte.ui.enabled")
    page_read_only: bool = Field(False, alias="magicbyte.ui.read.only")
    rest_url: Annotated[str, AfterValidator(_url)] = Field("", alias="magicbyte.ui.rest.url")
    page_name: str = Field("", alias="magicbyte.ui.name", max_length=40)
    #: Limits of a request to `/ui/decode`, `/ui/encode` and `/ui/example`, which a worker process answers.
    messages_cpu_ms: int = Field(5_000, alias="magicbyte.ui.messages.cpu.ms", gt=0)
    messages_timeout_ms: int = Field(20_000, alias="magicbyte.ui.messages.timeout.ms", gt=0)
    messages_memory_bytes: int = Field(512 << 20, alias="magicbyte.ui.messages.memory.bytes", ge=128 << 20)
    messages_max_bytes: int = Field(16 << 20, alias="magicbyte.ui.messages.max.bytes", gt=0)
    #: How many of these requests run at once (and one more of another client), and how many of one client may wait.
    messages_workers: int = Field(2, alias="magicbyte.ui.messages.workers", ge=1)
    messages_waiting: int = Field(8, alias="magicbyte.ui.messages.waiting.max.per.client", ge=0)
    #: How many requests the page passes on at once to each server behind it (and eight more of clients without one),
    #: and how many of one client may wait.
    relayed_requests: int = Field(24, alias="magicbyte.ui.relay.requests.max", ge=1)
    relayed_waiting: int = Field(64, alias="magicbyte.ui.relay.waiting.max.per.client", ge=0)
    #: How many `/events` of one client the page may follow; it follows 512 in all.
    page_events_per_client: int = Field(16, alias="magicbyte.ui.events.max.per.client", ge=1, le=512)
    page_color: Annotated[str, AfterValidator(_color)] = Field("", alias="magicbyte.ui.color")
