"""A server that can be made as new without starting its process again.

In the parent `RenewableServer` starts and renews it; this module run as a program is the child, which serves the real
application and makes it anew when asked to.
"""

from __future__ import annotations

import http.client
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from magicbyte.kit import process
from magicbyte.platform.server_process import ServerFailed, ServerProcess

#: The request that asks for a new application; no server of ours has such a path.
_RENEW = "/.magicbyte/renew"


class RenewableServer(ServerProcess):
    """A registry or a REST proxy in a process that ends with this one."""

    def __init__(self, package: str, properties: Mapping[str, str], folder: Path, *, probe: str) -> None:
        """Say what to start; nothing is started yet.

        Args:
            package: `registry` or `rest_proxy`.
            properties: its settings; it listens on a free port.
            folder: where its settings and its log are kept.
            probe: the path whose answer shows that it is ready.
        """
        from magicbyte.platform.broker import free_port  # noqa: PLC0415 - the child has no use for it

        url = f"http://127.0.0.1:{free_port()}"
        super().__init__(package.replace("_", " "), [], url, log=folder / f"{package}.log", probe=probe)
        self._package = package
        self._settings = folder / f"{package}.json"
        self._properties = {**properties, "listeners": url}

    def launch(self, *, start_when_closed: int | None = None) -> None:
        """Start the process and return at once."""
        import json  # noqa: PLC0415 - the child has no use for it

        assert start_when_closed is None
        self._settings.write_text(json.dumps(self._properties), encoding="utf-8")
        # -P: a folder of the user's that is called `registry` must not be taken for ours.
        command = [sys.executable, "-P", "-m", "magicbyte.testing.renewed", self._package, str(self._settings)]
        with self.log.open("wb") as log:
            self._process = process.start(command, log=log.fileno(), environment=os.environ | {"PYTHONUNBUFFERED": "1"})

    def renew(self) -> None:
        """Have the application made anew.

        Raises:
            ServerFailed: it could not be.
        """
        parts = urlsplit(self.url)
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=30)
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
        import asyncio  # noqa: PLC0415 - the parent has no use for it

        self.app = app
        self._in: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._out: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        scope = {"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}
        self._task = asyncio.create_task(app(scope, self._in.get, self._out.put))

    async def tell(self, event: str) -> dict[str, Any]:
        """Send `lifespan.startup` or `lifespan.shutdown`, and give the answer."""
        await self._in.put({"type": event})
        return await self._out.get()

    async def end(self) -> None:
        """Shut it down."""
        await self.tell("lifespan.shutdown")
        await self._task


class Renewable:
    """An ASGI application that passes everything on to the one it has made last."""

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
        """What counts and logs its answers."""
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
        return await self._run.tell("lifespan.startup")


def main(package: str, settings_file: str) -> int:
    """Serve; returns the exit code."""
    import json  # noqa: PLC0415 - the parent has no use for any of these

    from magicbyte.cli.servers.common import load_serve  # noqa: PLC0415
    from magicbyte.kit.extras import require  # noqa: PLC0415
    from magicbyte.kit.failure import Failure, say  # noqa: PLC0415

    properties = json.loads(Path(settings_file).read_text(encoding="utf-8"))
    try:
        require("server", user=f"the fixture of the {package.replace('_', ' ')}")
        from magicbyte.http.server import parse_listener, serve  # noqa: PLC0415 - an extra's

        load_serve(package)
        make, settings = _MAKERS[package](properties)
        return serve(Renewable(make), [parse_listener(properties["listeners"])], settings, graceful_seconds=1)
    except Failure as failure:
        say(str(failure))
        return 1


def _registry(properties: dict[str, str]) -> Any:
    from registry.app import create_app  # noqa: PLC0415 - the proxy's process has no use for it
    from registry.settings import RegistrySettings  # noqa: PLC0415

    settings = RegistrySettings.from_properties(properties)
    return lambda: create_app(settings), settings


def _rest_proxy(properties: dict[str, str]) -> Any:
    from rest_proxy.app import create_app  # noqa: PLC0415 - the registry's process has no use for it
    from rest_proxy.settings import RestProxySettings  # noqa: PLC0415

    settings = RestProxySettings.from_properties(properties)
    return lambda: create_app(settings), settings


_MAKERS = {"registry": _registry, "rest_proxy": _rest_proxy}

if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
