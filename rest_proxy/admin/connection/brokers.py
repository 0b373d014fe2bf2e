"""Connections to the brokers, made when they are needed and again after an outage."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import ssl
import time
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from aiokafka import errors
from aiokafka.conn import AIOKafkaConnection, CloseReason, create_conn

from rest_proxy.admin.connection.nodes import Address, Node
from rest_proxy.admin.connection.protocol import ApiRequest
from rest_proxy.errors import KAFKA_AUTHENTICATION, KAFKA_RETRIABLE

log = logging.getLogger("rest_proxy.admin")
# At level debug it logs whole requests and responses, including the values of configurations.
logging.getLogger("aiokafka.conn").setLevel(logging.INFO)

#: A connection that is not used for this long is closed, in ms; the brokers do so after 10 minutes.
_IDLE_MS = 300_000
_FIRST_PAUSE_SECONDS = 0.05
_LONGEST_PAUSE_SECONDS = 1.0
#: How long one connection attempt may take, in seconds: a host that drops packets must not use up a request's time.
_CONNECT_SECONDS = 3.0
#: How long to retry a named broker that cannot be reached, in seconds: another one may soon take over its tasks.
_NODE_SECONDS = 1.0


class NotSent(Exception):
    """No connection could be made, so the request was not sent."""


class Lost(Exception):
    """The connection was lost or silent after the request was sent, so its effect is unknown."""


class Brokers:
    """One connection to each broker that is asked, and one to a bootstrap server for the first request."""

    def __init__(self, bootstrap: Sequence[Address], options: Mapping[str, Any], timeout_seconds: float) -> None:
        """Prepare without connecting.

        Args:
            bootstrap: The addresses of `bootstrap.servers`.
            options: aiokafka's keyword arguments for a connection's security.
            timeout_seconds: The time limit for a request with all its attempts.
        """
        self.timeout = timeout_seconds
        self.nodes: dict[int, Node] = {}
        self._bootstrap = tuple(bootstrap)
        self._options = options
        self._connections: dict[Address, AIOKafkaConnection] = {}
        self._locks: dict[Address, asyncio.Lock] = {}
        #: The address that answered last: the first one to try for requests that any broker can answer.
        self._last: Address | None = None

    async def ask(
        self,
        name: str,
        values: Mapping[str, Any],
        *,
        optional: Collection[str] = (),
        node: int | None = None,
        repeatable: bool = True,
    ) -> Any:
        """Send a request and return the response; try again while brokers cannot be reached.

        Args:
            name: The request's kind by kio's name, such as `create_topics`.
            values: Its fields by kio's names; lists of mappings are arrays of structures.
            optional: Fields to leave out if the broker's version has none of that name.
            node: The broker to ask, which must be in `nodes`; None for any broker.
            repeatable: Whether the request may be sent again if a connection is lost before the response.

        Raises:
            ApiError: KAFKA_AUTHENTICATION at once; KAFKA_RETRIABLE after the timeout, for a named broker that cannot be
                reached after a second, or if the effect is unknown; KAFKA_BAD_REQUEST if the broker is too old.
        """
        request = ApiRequest(name, values, optional)
        deadline = time.monotonic() + self.timeout
        patience = time.monotonic() + _NODE_SECONDS
        pause = _FIRST_PAUSE_SECONDS
        while True:
            try:
                return await self._attempt(request, self._addresses(node), deadline)
            except NotSent as error:
                if time.monotonic() + pause > (deadline if node is None else patience):
                    raise KAFKA_RETRIABLE(detail=str(error)) from None
            except Lost as error:
                if time.monotonic() + pause > deadline or not repeatable:
                    raise KAFKA_RETRIABLE(detail=str(error)) from None
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)

    def _addresses(self, node_id: int | None) -> list[Address]:
        if node_id is not None:
            node = self.nodes.get(node_id)
            return [] if node is None else [(node.host, node.port)]
        addresses = [(node.host, node.port) for node in self.nodes.values()]
        addresses.sort(key=lambda address: address != self._last)
        return list(dict.fromkeys((*addresses, *self._bootstrap)))

    async def _attempt(self, request: ApiRequest, addresses: Sequence[Address], deadline: float) -> Any:
        problem: Exception = NotSent("The broker is not known.")
        for address in addresses:
            seconds = deadline - time.monotonic()
            if seconds <= 0:
                break
            try:
                connection = await self._connection(address, min(seconds, _CONNECT_SECONDS))
            except NotSent as error:
                problem = error
                continue
            response = await self._exchange(connection, request, max(0.1, deadline - time.monotonic()))
            self._last = address
            return response
        raise problem

    async def _exchange(self, connection: AIOKafkaConnection, request: ApiRequest, seconds: float) -> Any:
        try:
            return await asyncio.wait_for(connection.send(request), seconds)
        except TimeoutError:
            # Its responses come in order, so the next request would wait for this one.
            connection.close(reason=CloseReason.CONNECTION_TIMEOUT)
            raise Lost("The broker did not answer in time.") from None
        except (OSError, errors.KafkaError) as error:
            connection.close()
            log.info(
                "the connection to a broker was lost: %s",
                error,
                extra={"event": "broker_connection_lost", "error": str(error)},
            )
            raise Lost("The connection to the broker was lost before its answer.") from None

    async def _connection(self, address: Address, seconds: float) -> AIOKafkaConnection:
        """Return the connection to an address, made if there is none.

        Raises:
            ApiError: KAFKA_AUTHENTICATION.
            NotSent: The broker cannot be reached.
        """
        async with self._locks.setdefault(address, asyncio.Lock()):
            connection = self._connections.get(address)
            if connection is None or not connection.connected():
                connection = self._connections[address] = await self.open(address, seconds)
            return connection

    async def open(self, address: Address, seconds: float = _CONNECT_SECONDS) -> AIOKafkaConnection:
        """Open another connection to an address for slow requests: a broker answers its requests in order.

        Raises:
            ApiError: KAFKA_AUTHENTICATION.
            NotSent: The broker cannot be reached.
        """
        try:
            return await asyncio.wait_for(self._connect(address), seconds)
        except (ssl.SSLEOFError, ssl.SSLZeroReturnError):
            # A broker that stops disconnects in the handshake.
            raise NotSent("No broker can be reached.") from None
        except ssl.SSLError as error:
            raise KAFKA_AUTHENTICATION(detail=f"The TLS handshake with a broker failed: {error.reason}") from None
        except (errors.SaslAuthenticationFailed, errors.UnsupportedSaslMechanismError) as error:
            raise KAFKA_AUTHENTICATION(detail=str(error.args[0] if error.args else error)) from None
        except (OSError, TimeoutError, errors.KafkaError) as error:
            log.info(
                "no connection to %s:%d: %s",
                *address,
                error,
                extra={"event": "broker_unreachable", "error": str(error)},
            )
            raise NotSent("No broker can be reached.") from None

    async def _connect(self, address: Address) -> AIOKafkaConnection:
        return await create_conn(
            *address,
            client_id="magicbyte-rest-admin",
            request_timeout_ms=int(self.timeout * 1000),
            max_idle_ms=_IDLE_MS,
            **self._options,
        )

    async def close(self) -> None:
        """Close all connections."""
        closing = [
            connection.close(reason=CloseReason.SHUTDOWN)
            for connection in self._connections.values()
            if connection.connected()
        ]
        self._connections.clear()
        with contextlib.suppress(Exception):
            await asyncio.gather(*closing)
