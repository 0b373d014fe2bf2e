"""`magicbyte health`: ask a server on this machine whether it is alive, or ready; for containers' health checks."""

from __future__ import annotations

import argparse
import http.client
import queue
import ssl
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from magicbyte.cli.servers.configured import (
    SERVERS,
    address_options,
    command_in,
    first_process,
    listener_properties,
    servers_of_environment,
)
from magicbyte.http.listener import Listener, parse_listener
from magicbyte.kit.command_line import CommandParser
from magicbyte.kit.failure import Failure, say
from magicbyte.kit.inert import inert_line
from serdes.console.outcome import BAD_DATA, BAD_USAGE, NOT_DELIVERED, OK, Ended

#: The most bytes of an answer that are printed.
_SHOWN = 1000
_NOT_SERVED = (403, 404)
#: The longest time for an answer, in seconds.
_LONGEST_TIMEOUT = 3600
#: The endpoints of our servers: each answers a JSON object.
_OURS = ("/health/live", "/health/ready")


@dataclass(frozen=True, slots=True)
class _CheckedListener:
    """A listener, and whether its clients must have a certificate, as far as that is known."""

    listener: Listener
    demands_certificate: bool = False


def main(arguments: Sequence[str]) -> int:
    """Ask once and return the exit code: 0 healthy, 1 not, 2 wrong usage, 3 no server there."""
    parser = CommandParser(
        prog="magicbyte health",
        description=__doc__,
        examples=(
            "magicbyte health",
            "magicbyte health registry --config /etc/magicbyte/registry.properties --ready",
            "magicbyte health --url https://localhost:8081",
        ),
    )
    parser.add_argument(
        "server",
        nargs="?",
        choices=tuple(SERVERS),
        help="the server; by default that of the container's first process, or the one that the variables configure",
    )
    parser.add_argument("--config", type=Path, metavar="FILE", help="the server's .properties file")
    parser.add_argument(
        "--url", metavar="URL", help="the server's URL, or that of a health endpoint; instead of a configured listener"
    )
    parser.add_argument("--ready", action="store_true", help="ask whether it is ready for requests, not only alive")
    parser.add_argument(
        "--timeout", type=float, default=5.0, metavar="SECONDS", help="the longest time for the answer (default 5)"
    )
    options = parser.parse_args(arguments)
    if options.url is not None and (options.server is not None or options.config is not None):
        parser.error("--url stands alone: without a server's name and --config")
    if not 0 < options.timeout <= _LONGEST_TIMEOUT:  # also not a number
        parser.error(f"--timeout must be over 0, and at most {_LONGEST_TIMEOUT}")
    try:
        path = "/health/ready" if options.ready else "/health/live"
        if options.url is None:
            asked = _configured(options)
        else:
            parts = _split(options.url)
            # The URL of another health endpoint, such as a pipeline's.
            path = parts.path if parts.path not in ("", "/") else path
            asked = _CheckedListener(_parsed(f"{parts.scheme}://{parts.netloc}"))
        code, told = _ask_in_time(asked, path, options.timeout)
    except Ended as ended:
        say(str(ended))
        return ended.code
    print(inert_line(told))
    return code


def _configured(options: argparse.Namespace) -> _CheckedListener:
    """The listener to ask: one without TLS, if there is one."""
    name, config = options.server, options.config
    listen: str | None = None
    command = command_in(first_process())
    if command and command[0] in SERVERS and name in (None, command[0]) and config is None:
        name = command[0]
        given, _ = address_options(name).parse_known_args(command[1:])
        config, listen = given.config, given.listen
    elif name is None:
        names = servers_of_environment()
        if len(names) != 1:
            reason = "the variables configure two servers" if names else "no server is configured here"
            raise Ended(BAD_USAGE, f"{reason}: name one, `registry` or `rest-proxy`, or give its --url")
        name = names[0]
    try:
        properties = listener_properties(name, config=config, listen=listen)
        text = properties.get("listeners", "").strip()
        if "${" in text:
            from magicbyte.kit.placeholders import resolve_value  # noqa: PLC0415  it is slow to import, and rare

            text = resolve_value("listeners", text)
    except (OSError, UnicodeDecodeError) as error:
        problem = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise Ended(BAD_USAGE, f"--config {config} cannot be read: {problem}") from None
    except Failure as failure:
        # A placeholder that names nothing.
        raise Ended(BAD_USAGE, str(failure)) from None
    if not text:
        text = f"http://127.0.0.1:{properties.get('port', SERVERS[name].port)}"
    listeners = [_parsed(part.strip()) for part in text.split(",") if part.strip()]
    listener = min(listeners, key=lambda listener: listener.scheme == "https")
    return _CheckedListener(
        listener, demands_certificate=listener.scheme == "https" and _demands_certificate(properties)
    )


def _demands_certificate(properties: Mapping[str, str]) -> bool:
    demand = properties.get("ssl.client.authentication", "")
    older = properties.get("ssl.client.auth", "").strip().lower() == "true"
    return demand.strip().upper() == "REQUIRED" or (not demand and older)


def _split(url: str) -> SplitResult:
    """The parts of a URL; `HOST:PORT` is one without TLS."""
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
    except ValueError as error:
        raise Ended(BAD_USAGE, f"--url {url}: {error}") from None
    if not parts.netloc:
        raise Ended(BAD_USAGE, f"--url {url!r} names no host; write http://HOST:PORT or https://HOST:PORT")
    return parts


def _parsed(text: str) -> Listener:
    try:
        parts = urlsplit(text if "://" in text else f"http://{text}")
        if parts.port is None and parts.scheme in ("http", "https"):
            text = f"{text.rstrip('/')}:{443 if parts.scheme == 'https' else 80}"
        return parse_listener(text)
    except ValueError as error:
        raise Ended(BAD_USAGE, str(error)) from None


def _ask_in_time(asked: _CheckedListener, path: str, timeout: float) -> tuple[int, str]:
    """As `_ask`; the time is that of the whole exchange: a server that sends a byte now and then has no more.

    Raises:
        Ended: No server answered in time.
    """
    results: queue.SimpleQueue[tuple[int, str] | Exception] = queue.SimpleQueue()

    def ask() -> None:
        try:
            results.put(_ask(asked, path, timeout))
        except Exception as error:  # noqa: BLE001  raised below
            results.put(error)

    threading.Thread(target=ask, daemon=True).start()
    try:
        result = results.get(timeout=timeout)
    except queue.Empty:
        raise Ended(NOT_DELIVERED, f"{asked.listener.url}{path} did not answer in {timeout:g} s") from None
    if isinstance(result, Exception):
        raise result
    return result


def _ask(asked: _CheckedListener, path: str, timeout: float) -> tuple[int, str]:
    """Send a request; returns the exit code, and a line that says what the server answered.

    Raises:
        Ended: No server answered.
    """
    url = f"{asked.listener.url}{path}"
    connection = _connection(asked.listener, timeout)
    try:
        connection.request("GET", path, headers={"Connection": "close"})
        answer = connection.getresponse()
        body = answer.read(_SHOWN).decode(errors="replace").strip()
    except (ConnectionResetError, http.client.RemoteDisconnected, ssl.SSLError) as error:
        # A server that demands a certificate ends the handshake of TLS 1.2, or the connection after that of TLS 1.3.
        if asked.demands_certificate and getattr(error, "reason", "") != "WRONG_VERSION_NUMBER":
            return _demanded(url, is_alive=path.endswith("live"))
        raise Ended(NOT_DELIVERED, f"{url} ended the connection: {error}") from None
    except TimeoutError:
        raise Ended(NOT_DELIVERED, f"{url} did not answer in {timeout:g} s") from None
    except (OSError, http.client.HTTPException) as error:
        raise Ended(NOT_DELIVERED, f"{url} does not answer: {getattr(error, 'strerror', None) or error}") from None
    finally:
        connection.close()
    if answer.status in _NOT_SERVED:
        return BAD_USAGE, f"{url}: {answer.status}; the server does not serve this path (api.endpoints.allowlist)"
    if answer.status < 300 and path in _OURS and not body.startswith("{"):
        return BAD_DATA, f"{url}: {answer.status}, but another program answers there: {body}"
    return OK if answer.status < 300 else BAD_DATA, f"{url}: {answer.status} {body}"


def _demanded(url: str, *, is_alive: bool) -> tuple[int, str]:
    if is_alive:
        return OK, f"{url}: alive; it answers only clients with a certificate"
    hint = "add a listener for this machine, such as http://127.0.0.1:8091"
    return BAD_DATA, f"{url} answers only clients with a certificate, so it cannot be asked whether it is ready; {hint}"


def _connection(listener: Listener, timeout: float) -> http.client.HTTPConnection:
    address = urlsplit(listener.url)
    if listener.scheme == "http":
        return http.client.HTTPConnection(address.hostname or "", address.port, timeout=timeout)
    # The request says nothing secret, and the certificate is for the name that clients use, not for this address.
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return http.client.HTTPSConnection(address.hostname or "", address.port, timeout=timeout, context=context)
