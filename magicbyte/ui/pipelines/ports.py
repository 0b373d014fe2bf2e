"""Asks the metrics ports, all at once and within bounds: a port that hangs or answers without end harms nobody."""

from __future__ import annotations

import asyncio
import logging
import ssl
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import httpx

from magicbyte.http.metrics_ports import MetricsPort
from magicbyte.http.relay.headers import HeaderPolicy
from magicbyte.http.relay.relay import Relay
from magicbyte.ui.pipelines.figures import OddMetrics, PipelineFigures, figures_of
from magicbyte.ui.pipelines.health import OddHealth, RunHealth, health_of

log = logging.getLogger("magicbyte.ui")

#: How long a port may take for both answers, in seconds.
_SECONDS = 3.0
#: The answers of all ports count for so long, in seconds: further clients do not ask again.
_FRESH_SECONDS = 2.0
_LARGEST_HEALTH, _LARGEST_METRICS = 1 << 16, 1 << 20
_OK = 200
#: The client's headers are not for the ports.
_NOTHING = HeaderPolicy(frozenset(), frozenset())


@dataclass(frozen=True, slots=True)
class PortAnswer:
    """The last answer of a port.

    Attributes:
        port: The port.
        problem: Why it gave no answer this time; empty if it did.
        health: The health; None if there was no answer this time.
        figures: The figures of its last answer, by pipeline.
        answered_at: When it answered last, in ms since 1970; None if it never did.
    """

    port: MetricsPort
    problem: str = ""
    health: RunHealth | None = None
    figures: Mapping[str, PipelineFigures] = field(default_factory=dict)
    answered_at: int | None = None


class Ports:
    """The ports of the settings."""

    def __init__(self, ports: Sequence[MetricsPort], tls: Callable[[], ssl.SSLContext]) -> None:
        """Prepare; nothing is asked yet.

        Args:
            ports: The ports.
            tls: Makes the context of connections to https:// URLs.
        """
        self._answers = [PortAnswer(port) for port in ports]
        timeouts = httpx.Timeout(_SECONDS)
        # Redirects are not followed: a port must not choose whom the page asks. A port has one connection at a time.
        most = max(1, len(ports))
        if not any(port.url.startswith("https:") for port in ports):
            # A connection without TLS needs no certificates, which take long to load.
            tls = partial(ssl.SSLContext, ssl.PROTOCOL_TLS_CLIENT)
        self._relay = Relay(_NOTHING, tls, timeouts, user_agent="magicbyte-ui", most_connections=most)
        self._round: asyncio.Task[None] | None = None
        self._asked = 0.0

    async def close(self) -> None:
        """Stop asking, and close the connections."""
        if self._round is not None:
            self._round.cancel()
        await self._relay.close()

    async def answers(self) -> Sequence[PortAnswer]:
        """The answers of all ports, at most two seconds old; clients that ask together share them."""
        if self._round is None or (self._round.done() and time.monotonic() - self._asked > _FRESH_SECONDS):
            self._round = asyncio.create_task(self._ask_all())
        await asyncio.shield(self._round)
        return self._answers

    async def _ask_all(self) -> None:
        self._answers = list(await asyncio.gather(*map(self._ask, self._answers)))
        self._asked = time.monotonic()

    async def _ask(self, before: PortAnswer) -> PortAnswer:
        """The next answer of a port."""
        port = before.port
        try:
            async with asyncio.timeout(_SECONDS):
                health = health_of(*await self._get(port, "/health", _LARGEST_HEALTH))
                status, body = await self._get(port, "/metrics", _LARGEST_METRICS)
                # The parser is slow for large texts.
                figures = await asyncio.to_thread(_figures, status, body)
        except (TimeoutError, httpx.TimeoutException):
            problem = f"the port did not answer within {_SECONDS:.0f} s"
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            log.debug(
                "the metrics port at %s: %r",
                port.url,
                error,
                extra={"event": "metrics_port_unreachable", "url": port.url, "error": repr(error)},
            )
            problem = "the port cannot be reached"
        except OddHealth as error:
            problem = f"this is no pipeline's metrics port: {error}"
        except OddMetrics as error:
            problem = f"the metrics cannot be read: {error}"
        else:
            return PortAnswer(port, health=health, figures=figures, answered_at=round(time.time() * 1000))
        return replace(before, problem=problem, health=None)

    async def _get(self, port: MetricsPort, target: str, most: int) -> tuple[int, bytes]:
        """The status and the body of an answer.

        Raises:
            OddMetrics: The body has too many bytes.
        """
        answer = await self._relay.send("GET", port.url, target, [])
        body = bytearray()
        try:
            # As it was sent: a small answer could be decompressed to any size.
            async for part in answer.aiter_raw():
                body += part
                if len(body) > most:
                    raise OddMetrics(f"{target} has more than {most} bytes")
        finally:
            await answer.aclose()
        return answer.status_code, bytes(body)


def _figures(status: int, body: bytes) -> dict[str, PipelineFigures]:
    if status != _OK:
        raise OddMetrics(f"/metrics has the status {status}")
    return figures_of(body)
