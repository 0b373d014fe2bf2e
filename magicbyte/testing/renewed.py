"""A server whose application can be replaced by a new one without a restart of its process.

`RenewableServer` is the parent's side, which starts and renews the server. The child runs this module as a program: it
serves the real application, and makes a new one on request.
"""

from __future__ import annotations

import http.client
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from magicbyte.kit.processes import process
from magicbyte.platform.server_process import ServerFailed, ServerProcess

#: The path of the request for a new application; our servers have no such route.
_RENEW = "/.magicbyte/renew"


class RenewableServer(ServerProcess):
    """A registry or a REST proxy in a process that ends when this process ends."""

    def __init__(
        self, package: str, properties: Mapping[str, str], folder: Path, *, probe: str, url: str, ca: Path | None = None
    ) -> None:
        """Configure the server; nothing is started yet.

        Args:
            package: `registry` or `rest_proxy`.
            properties: its settings.
            folder: the folder of its settings and its log.
            probe: the path to request; an answer means that the server is ready.
            url: the URL that it will serve.
            ca: the CA certificate that clients of an https URL trust.
        """
        import ssl  # noqa: PLC0415 - the child does not need it

        tls = None if ca is None else ssl.create_default_context(cafile=ca)
        super().__init__(package.replace("_", " "), [], url, log=folder / f"{package}.log", probe=probe, tls=tls)
        self._package = package
        self._settings = folder / f"{package}.json"
        self._properties = {**properties, "listeners": url}

    def launch(self, *, start_when_closed: int | None = None) -> None:
        """Start the process and return at once."""
        import json  # noqa: PLC0415 - the child does not need it

        assert start_when_closed is None
        self._settings.write_text(json.dumps(self._properties), encoding="utf-8")
        # -P: Python must not import a folder `registry` of the user instead of ours.
        command = [sys.executable, "-P", "-m", "magicbyte.testing.renewed", self._package, str(self._settings)]
        with self.log.open("wb") as log:
            self._process = process.start(command, log=log.fileno(), environment=os.environ | {"PYTHONUNBUFFERED": "1"})

    def renew(self) -> None:
        """Replace the application by a new one.

        Raises:
            ServerFailed: the server could not make a new one.
        """
        connection = self._connection(timeout=30)
        try:
            connection.request("POST", _RENEW)
            status = connection.getresponse().status
        except (OSError, http.client.HTTPException) as error:
            raise ServerFailed(f"the {self.name} could not be renewed: {error}", self.last_lines()) from error
        finally:
            connection.close()
        if status != http.HTTPStatus.NO_CONTENT:
            raise ServerFailed(f"the {self.name} could not be renewed: HTTP status {status}", self.last_lines())


class _Run:
    """One application from its start to its end, by ASGI's lifespan protocol."""

    def __init__(self, app: Any) -> None:
        import asyncio  # noqa: PLC0415 - the parent does not need it

        self.app = app
        self._in: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._out: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        scope = {"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}
        self._task = asyncio.create_task(app(scope, self._in.get, self._out.put))

    async def send_event(self, event: str) -> dict[str, Any]:
        """Send `lifespan.startup` or `lifespan.shutdown`, and return the answer."""
        await self._in.put({"type": event})
        return await self._out.get()

    async def end(self) -> None:
        """Shut the application down."""
        await self.send_event("lifespan.shutdown")
        await self._task


class Renewable:
    """An ASGI application that passes requests on to the application that it made last."""

    def __init__(self, make: Any) -> None:
        self._make = make
        self._run: _Run | None = None

    @property
    def table(self) -> Any:
        """The rows of the application."""
        assert self._run is not None
        return self._run.app.table

    @property
    def recorder(self) -> Any:
        """Counts and logs the answers."""
        assert self._run is not None
        return self._run.app.recorder

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve a connection."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http" and scope["path"] == _RENEW:
            assert self._run is not None
            await self._run.end()
            answer = await self._start()
            is_started = answer["type"] == "lifespan.startup.complete"
            status = http.HTTPStatus.NO_CONTENT if is_started else http.HTTPStatus.INTERNAL_SERVER_ERROR
            await send({"type": "http.response.start", "status": status.value, "headers": []})
            await send({"type": "http.response.body", "body": b""})
        else:
            assert self._run is not None
            await self._run.app(scope, receive, send)

    async def _live(self, receive: Any, send: Any) -> None:
        await receive()
        await send(await self._start())
        await receive()
        assert self._run is not None
        await self._run.end()
        await send({"type": "lifespan.shutdown.complete"})

    async def _start(self) -> dict[str, Any]:
        self._run = _Run(self._make())
        return await self._run.send_event("lifespan.startup")


def main(package: str, settings_file: str) -> int:
    """Serve until a stop signal and return the exit code."""
    import json  # noqa: PLC0415 - the parent does not need these

    from magicbyte.cli.servers.common import load_serve  # noqa: PLC0415
    from magicbyte.kit.extras import require  # noqa: PLC0415
    from magicbyte.kit.failure import Failure, say  # noqa: PLC0415

    properties = json.loads(Path(settings_file).read_text(encoding="utf-8"))
    try:
        require("server", user=f"the fixture of the {package.replace('_', ' ')}")
        from magicbyte.http.listener import parse_listener  # noqa: PLC0415 - in an extra
        from magicbyte.http.server import serve  # noqa: PLC0415 - in an extra

        load_serve(package)
        make, settings = _MAKERS[package](properties)
        return serve(Renewable(make), [parse_listener(properties["listeners"])], settings, graceful_seconds=1)
    except Failure as failure:
        say(str(failure))
        return 1


def _registry(properties: dict[str, str]) -> Any:
    from registry.app import create_app  # noqa: PLC0415 - the proxy's process does not need it
    from registry.settings import RegistrySettings  # noqa: PLC0415

    settings = RegistrySettings.from_properties(properties)
    return lambda: create_app(settings), settings


def _rest_proxy(properties: dict[str, str]) -> Any:
    from rest_proxy.app import create_app  # noqa: PLC0415 - the registry's process does not need it
    from rest_proxy.settings import RestProxySettings  # noqa: PLC0415

    settings = RestProxySettings.from_properties(properties)
    return lambda: create_app(settings), settings


_MAKERS = {"registry": _registry, "rest_proxy": _rest_proxy}

if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
