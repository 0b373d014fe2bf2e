"""Settings that all our HTTP servers share: connection limits, access of browsers, and headers of answers."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Annotated

from pydantic import BeforeValidator, Field

from magicbyte.http.allowed_origins import AccessControl, parse_origins
from magicbyte.http.connection_limits import Limits
from magicbyte.http.metrics.settings import MetricsSettings
from magicbyte.http.reference_names import NOT_KEPT, WITHOUT_EFFECT
from magicbyte.http.response_headers import (
    NO_PAGE,
    NO_REFERRER,
    NOSNIFF,
    Header,
    ResponseHeaders,
    parse_response_headers,
)
from magicbyte.kit.logs.settings import LogSettings
from magicbyte.kit.settings.property_words import BYTES_A_SECOND, Takes
from magicbyte.kit.settings.server import ByteSize, CommaList, Milliseconds, parts_of
from magicbyte.security.settings import SecuritySettings

log = logging.getLogger("magicbyte.kit.settings")

_DEFAULT_ACCESS = AccessControl()
_NOSNIFF = parse_response_headers("set X-Content-Type-Options: nosniff")


class HttpSettings(SecuritySettings, MetricsSettings, LogSettings):
    """Properties with rest-utils' names, and some of our own; subclasses add the properties of their server."""

    title = "Connections and browsers"

    #: Also the longest time in which a client may send nothing of a body or read nothing of an answer, as in Jetty.
    idle_timeout_ms: Milliseconds = Field(
        30_000,
        alias="idle.timeout.ms",
        description="The longest time in which a client may send no request, send nothing of a body, or read "
        "nothing of an answer.",
        gt=0,
    )
    connection_limit: int = Field(
        10_000,
        alias="server.connection.limit",
        description="The most connections of all listeners together; 0 for no limit.",
        ge=0,
    )
    max_head_bytes: ByteSize = Field(
        32 << 10, alias="max.request.header.size", description="The largest head of a request.", ge=1024
    )
    head_timeout_ms: Milliseconds = Field(
        10_000,
        alias="magicbyte.request.head.timeout.ms",
        description="The longest time for the head of a request.",
        gt=0,
    )
    min_body_rate: Annotated[int, Takes(BYTES_A_SECOND)] = Field(
        1024,
        alias="magicbyte.request.body.min.bytes.per.second",
        description="The lowest rate of a body, once `idle.timeout.ms` has passed; 0 for none.",
        ge=0,
    )
    heads_per_address: int = Field(
        256,
        alias="magicbyte.unfinished.heads.per.address",
        description="The most connections of one address (of one /64 of IPv6) whose request's head is not complete.",
        ge=1,
    )
    pipelined_bytes: ByteSize = Field(
        64 << 20,
        alias="magicbyte.pipelining.buffer.bytes",
        description="The most bytes of pipelined requests that wait, on all connections.",
        ge=0,
    )

    allowed_hosts: CommaList = Field(
        (),
        alias="magicbyte.allowed.hosts",
        description="Further names of this server, which `Host` may have; `*` for any. See "
        "[browsers](registry-api.md#browsers).",
    )
    allowed_origins: Annotated[
        frozenset[str], BeforeValidator(parse_origins), Takes("origins, with commas between")
    ] = Field(
        frozenset(),
        alias="access.control.allow.origin",
        description="Origins whose pages may read and write, such as `https://app.example.com`; `*` for all.",
    )
    allowed_methods: Annotated[
        tuple[str, ...],
        BeforeValidator(parts_of),
        Takes("a list, with commas between", default=f"`{','.join(_DEFAULT_ACCESS.methods)}`"),
    ] = Field((), alias="access.control.allow.methods", description="The methods that these pages may use.")
    allowed_headers: Annotated[
        tuple[str, ...],
        BeforeValidator(parts_of),
        Takes("a list, with commas between", default=f"`{','.join(_DEFAULT_ACCESS.headers)}`"),
    ] = Field((), alias="access.control.allow.headers", description="The headers that these pages may send.")
    reject_options: bool = Field(
        False, alias="reject.options.request", description="Whether all `OPTIONS` requests are refused (403)."
    )
    #: None: only answers of routes have the header; True: answers to malformed requests have it, too.
    nosniff: bool | None = Field(
        None,
        alias="nosniff.prevention.enable",
        description="Whether all answers have `X-Content-Type-Options: nosniff`. By default those of routes "
        "have it, and answers to malformed requests have not.",
    )
    response_headers: Annotated[
        ResponseHeaders,
        BeforeValidator(parse_response_headers),
        Takes("actions and headers, with commas between", default="none"),
    ] = Field(
        ResponseHeaders(),
        alias="response.http.headers.config",
        description="Headers of every answer that does not have them itself, as in Jetty: `set "
        'X-Frame-Options: DENY, "add Cache-Control: no-cache, no-store", setDate Expires: 60000`.',
    )

    @classmethod
    def without_effect(cls) -> Mapping[str, str]:
        """Properties of rest-utils that have no effect here -> the reason."""
        return {**super().without_effect(), **WITHOUT_EFFECT}

    @classmethod
    def not_kept(cls) -> Mapping[str, str]:
        """Properties of rest-utils that ask for what no server here has -> the text of the refusal."""
        return {**super().not_kept(), **NOT_KEPT}

    @property
    def all_response_headers(self) -> ResponseHeaders:
        """The headers of all answers."""
        configured = self.response_headers
        return configured.merged_over(_NOSNIFF) if self.nosniff else configured

    @property
    def default_headers(self) -> tuple[Header, ...]:
        """The headers of the answers of all routes that the settings leave to us."""
        ours = (NO_REFERRER, NO_PAGE) if self.nosniff is False else (NOSNIFF, NO_REFERRER, NO_PAGE)
        names = self.response_headers.names()
        return tuple(header for header in ours if header[0] not in names)

    @property
    def host_names(self) -> list[str]:
        """The names of this server in the settings, in addition to those of its listeners."""
        return list(self.allowed_hosts)

    @property
    def limits(self) -> Limits:
        """The limits of connections."""
        return Limits(
            connections=self.connection_limit,
            heads_per_address=self.heads_per_address,
            head_bytes=self.max_head_bytes,
            head_seconds=self.head_timeout_ms / 1000,
            idle_seconds=self.idle_timeout_ms / 1000,
            body_bytes_per_second=self.min_body_rate,
            pipelined_bytes=self.pipelined_bytes,
        )

    @property
    def access_control(self) -> AccessControl:
        """The rights of pages of other origins."""
        defaults = AccessControl(self.allowed_origins, rejects_options=self.reject_options)
        return AccessControl(
            defaults.origins,
            tuple(method.upper() for method in self.allowed_methods) or defaults.methods,
            tuple(name.lower() for name in self.allowed_headers) or defaults.headers,
            defaults.rejects_options,
        )
