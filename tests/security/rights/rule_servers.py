"""Servers with access rules, and what asks them: settings, people, rules, and a client for each person."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import httpx

from magicbyte.platform.server_process import ServerProcess
from magicbyte.security.rights.rule import Rule
from magicbyte.security.rights.rule_file import parse_line
from magicbyte.security.rights.rule_json import rules_to_json
from magicbyte.security.sign_in.password_hash import hash_key

PEOPLE = ("admin", "keeper", "lister", "team", "nobody")
FIRST_RULES = (
    "allow User:keeper ALTER,DESCRIBE REGISTRY LITERAL schema-registry",
    "allow User:keeper ALL SUBJECT PREFIXED team.",
    "allow User:lister DESCRIBE REGISTRY LITERAL *",
)
ACLS = "/security/acls"
V2 = "application/vnd.kafka.binary.v2+json"


def rules(*lines: str) -> frozenset[Rule]:
    return frozenset(rule for line in lines for rule in parse_line(line))


def properties_in(
    folder: Path, *, people: Sequence[str] = PEOPLE, rules: str | None = None, **more: str
) -> dict[str, str]:
    """Settings of a server to which people sign in with their name and `mbs_` and their name.

    Args:
        folder: Gets the files `users` and, with rules, `rules`.
        people: The users.
        rules: The text of the file of rules; None for rules in the registry's log.
        more: Further settings.
    """
    users = folder / "users"
    users.write_text("".join(f"{name}:{hash_key('mbs_' + name)}\n" for name in people))
    users.chmod(0o600)
    if rules is not None:
        (folder / "rules").write_text(rules)
        more = {"magicbyte.acl.store": f"file:{folder / 'rules'}", **more}
    return {
        "authentication.method": "BASIC",
        "magicbyte.users.file": str(users),
        "super.users": "User:admin",
        "magicbyte.authentication.failure.ms": "0",
        **more,
    }


class Client:
    """A client of one server, for each person."""

    def __init__(self, server: ServerProcess) -> None:
        self.server = server
        self._client = httpx.Client(base_url=server.url, timeout=60)

    def __call__(self, who: str, method: str, path: str, body: Any = None, **headers: str) -> httpx.Response:
        content = None if body is None else json.dumps(body).encode()
        named = {"content-type": "application/json", **headers} if content is not None else headers
        return self._client.request(method, path, content=content, headers=named, auth=(who, "mbs_" + who))

    def change(self, method: str, *lines: str, who: str = "admin") -> httpx.Response:
        return self(who, method, ACLS, rules_to_json(rules(*lines)))

    def register(self, who: str, subject: str) -> httpx.Response:
        return self(who, "POST", f"/subjects/{subject}/versions", {"schema": '"int"'})

    def close(self) -> None:
        self._client.close()


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, "in vain"
        time.sleep(0.02)
