"""What stands behind a `mock://scope` URL: the real registry in memory, in this process."""

from __future__ import annotations

from typing import Any


def app(scope: str) -> Any:
    """The ASGI application for a scope; serdes keeps one for each.

    Raises:
        ExtraMissing: the registry's dependencies are not installed.
        Failure: a stranger's package called `registry` comes first on the import path.
    """
    del scope
    from magicbyte.cli.servers.common import load_serve  # noqa: PLC0415 - found by name, long before it is needed
    from magicbyte.kit.extras import require  # noqa: PLC0415

    require("server", user="a mock:// registry")
    load_serve("registry")
    from registry.app import create_app  # noqa: PLC0415 - ours, as was just seen
    from registry.settings import RegistrySettings  # noqa: PLC0415

    return create_app(RegistrySettings.from_properties({"magicbyte.storage": "memory:"}))
