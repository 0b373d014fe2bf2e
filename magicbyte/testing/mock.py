"""The registry behind a `mock://scope` URL: the real one, in memory and in this process."""

from __future__ import annotations

from typing import Any


def app(scope: str) -> Any:
    """Return a new ASGI application; serdes keeps one per scope.

    Raises:
        ExtraMissing: the registry's dependencies are not installed.
        Failure: another package called `registry` comes first on the import path.
    """
    del scope
    from magicbyte.cli.servers.common import load_serve  # noqa: PLC0415 - serdes imports this module early
    from magicbyte.kit.extras import require  # noqa: PLC0415

    require("server", user="a mock:// registry")
    load_serve("registry")
    from registry.app import create_app  # noqa: PLC0415 - ours, as checked above
    from registry.settings import RegistrySettings  # noqa: PLC0415

    return create_app(RegistrySettings.from_properties({"magicbyte.storage": "memory:"}))
