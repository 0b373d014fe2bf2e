"""An id that may not be read costs what an unknown one costs: the log is read to its end for both."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path

import pytest

from magicbyte.security.sign_in.password_hash import hash_key
from registry.app import create_app
from registry.cluster.node import SharedLogNode
from registry.log.memory import MemoryLog
from registry.settings import RegistrySettings
from tests.security.matrix.in_process import InProcess, running


class CountingNode(SharedLogNode):
    """A node that counts how often it reads the log to its end."""

    reads = 0

    def sync(self) -> None:
        self.reads += 1
        super().sync()


def basic(name: str) -> list[tuple[str, str]]:
    return [("authorization", "Basic " + b64encode(f"{name}:mbs_{name}".encode()).decode())]


def users_and_rules(folder: Path) -> dict[str, str]:
    users, rules = folder / "users", folder / "rules"
    users.write_text("".join(f"{name}:{hash_key('mbs_' + name)}\n" for name in ("admin", "reader")))
    users.chmod(0o600)
    rules.write_text("allow User:reader READ SUBJECT PREFIXED open.\n")
    return {
        "magicbyte.storage": "memory:",
        "authentication.method": "BASIC",
        "magicbyte.users.file": str(users),
        "magicbyte.acl.store": f"file:{rules}",
        "super.users": "User:admin",
    }


@pytest.mark.parametrize("path", ["/schemas/ids/{}", "/schemas/ids/{}/schema", "/schemas/ids/{}/subjects"])
def test_a_hidden_id_is_looked_for_as_long_as_an_unknown_one(tmp_path: Path, path: str):
    node = CountingNode(MemoryLog(), "http://registry")
    node.start()
    try:
        app = create_app(RegistrySettings.from_properties(users_and_rules(tmp_path)), node)
        with running(app) as client:
            registered = client.ask(
                "POST", "/subjects/sealed/versions", basic("admin"), body=b'{"schema":"\\"string\\""}'
            )
            assert registered.status == 200

            def reads(who: str, schema_id: int) -> tuple[int, int]:
                before = node.reads
                return _status(client, who, path.format(schema_id)), node.reads - before

            assert reads("admin", 1) == (200, 0)
            assert reads("reader", 1) == (404, 1)
            assert reads("reader", 99) == (404, 1)
    finally:
        node.stop()


def _status(client: InProcess, who: str, path: str) -> int:
    return client.ask("GET", path, basic(who)).status
