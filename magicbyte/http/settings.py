"""Settings that all our HTTP servers share: connection limits, access of browsers, and headers of answers."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Annotated

from pydantic import BeforeValidator, Field

from magicbyte.http.allowed_origins import AccessControl, parse_origins
from magicbyte.http.connection_limits import Limits
from magicbyte.http.response_headers import (
    NO_PAGE,
    NO_REFERRER,
    NOSNIFF,
    Header,
    ResponseHeaders,
    parse_response_headers,
)
from magicbyte.kit.settings.server import parts_of
from magicbyte.security.settings import SecuritySettings

log = logging.getLogger("magicbyte.kit.settings")

_WITHOUT_EFFECT = {
    "access.control.skip.options": "preflight requests need no sign-in, as no others do",
    "connector.connection.limit": "server.connection.limit is for all listeners together",
    "csrf.prevention.enable": "writes of foreign pages are always refused, without tokens",
}
_NOSNIFF = parse_response_headers("set X-Content-Type-Options: nosniff")


class HttpSettings(SecuritySettings):
    """Properties with rest-utils' names, and some of our own; subclasses add the properties of their server."""

    #: Also the longest time in which a client may send nothing of a body or read nothing of an answer, as in Jetty.
    idle_timeout_ms: int = Field(30_000, alias="idle.timeout.ms", gt=0)
    connection_limit: int = Field(10_000, alias="server.connection.limit", ge=0)
    max_head_bytes: int = Field(32 << 10, alias="max.request.header.size", ge=1024)
    head_timeout_ms: int = Field(10_000, alias="magicbyte.request.head.timeout.ms", gt=0)
    min_body_rate: int = Field(1024, alias="magicbyte.request.body.min.bytes.per.second", ge=0)
    heads_per_address: int = Field(256, alias="magicbyte.unfinished.heads.per.address", ge=1)
    pipelined_bytes: int = Field(64 << 20, alias="magicbyte.pipelining.buffer.bytes", ge=0)

    allowed_hosts: Annotated[tuple[str, ...], BeforeValidator(parts_of)] = Field((), alias="magicbyte.allowed.hosts")
    allowed_origins: Annotated[frozenset[str], BeforeValidator(parse_origins)] = Field(
        frozenset(), alias="access.control.allow.origin"
    )
    allowed_methods: Annotated[tuple[str, ...], BeforeValidator(parts_of)] = Field(
        (), alias="access.control.allow.methods"
    )
    allowed_headers: Annotated[tuple[str, ...], BeforeValidator(parts_of)] = Field(
        (), alias="access.control.allow.headers"
    )
    reject_options: bool = Field(False, alias="reject.options.request")
    #: None: only answers of routes have the header; True: answers to malformed requests have it, too.
    nosniff: bool | None = Field(None, alias="nosniff.prevention.enable")
    response_headers: Annotated[ResponseHeaders, BeforeValidator(parse_response_headers)] = Field(
        ResponseHeaders(), alias="response.http.headers.config"
    )

    @classmethod
    def without_effect(cls) -> Mapping[str, str]:
        """Properties of rest-utils that have no effect here -> the reason."""
        return {**super().without_effect(), **_WITHOUT_EFFECT}

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
