"""The servers whose settings `magicbyte config` reads."""

from __future__ import annotations

from magicbyte.cli.servers.registry import REGISTRY
from magicbyte.cli.servers.rest_proxy import REST_PROXY
from magicbyte.cli.servers.ui import UI

SERVERS = {server.name: server for server in (REGISTRY, REST_PROXY, UI)}
