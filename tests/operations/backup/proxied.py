"""A registry behind a server that refuses what a test says: one of another vendor, a busy one, one that changes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock
from typing import Any

from magicbyte.http.routing.application import Application
from magicbyte.security.sign_in.password_hash import hash_key
from tests.http.serving import serving
from tests.security.matrix.in_process import InProcess, running

_RULES = """allow User:most READ,DESCRIBE_CONFIGS SUBJECT PREFIXED b
allow User:part READ,DESCRIBE_CONFIGS SUBJECT PREFIXED b
allow User:part DESCRIBE,DESCRIBE_CONFIGS REGISTRY LITERAL *
allow User:schemas READ SUBJECT LITERAL *
allow User:all READ,DESCRIBE_CONFIGS SUBJECT LITERAL *
allow User:all DESCRIBE,DESCRIBE_CONFIGS REGISTRY LITERAL *
"""
#: The header of the user `admin`, who may do everything.
AS_ADMIN = [("authorization", "Basic YWRtaW46bWJzX2FkbWlu")]


def some_rights(folder: Path) -> dict[str, str]:
    """Properties of a registry whose users see a part: `most`, `part`, `schemas`, and `all`, who sees the whole.

    The password of a user is `mbs_` and the name.
    """
    users, rules = folder / "users", folder / "rules"
    users.write_text(
        "".join(f"{name}:{hash_key('mbs_' + name)}\n" for name in ("admin", "most", "part", "schemas", "all"))
    )
    users.chmod(0o600)
    rules.write_text(_RULES)
    return {
        "authentication.method": "BASIC",
        "magicbyte.users.file": str(users),
        "magicbyte.acl.store": f"file:{rules}",
        "super.users": "User:admin",
    }


@dataclass
class Proxied:
    """The registry.

    Attributes:
        url: Its URL.
        refuse: Returns status and headers with which a path is refused, or None.
        before: Called before each request that is passed on.
        passed_on: Returns the path by which the registry is asked.
        altered: Returns the body that is sent for a path instead of the registry's.
        paths: The paths that were asked for.
    """

    application: InProcess
    url: str = ""
    refuse: Callable[[str], tuple[int, dict[str, str]] | None] = lambda _: None
    before: Callable[[str], None] = lambda _: None
    passed_on: Callable[[str], str] = lambda path: path
    altered: Callable[[str, bytes], bytes] = lambda _, body: body
    paths: list[str] = field(default_factory=list)
    lock: Lock = field(default_factory=Lock)

    def ask(self, method: str, path: str, body: Any = None, headers: Any = ()) -> Any:
        """Send a request past the server; returns the JSON of its answer."""
        content = b"" if body is None else json.dumps(body).encode()
        answer = self.application.ask(method, path, headers, body=content)
        assert answer.status == 200, answer.body
        return json.loads(answer.body)

    def register(self, subject: str, schema: str, **more: Any) -> int:
        """Register a schema; returns its id."""
        schema_id: int = self.ask("POST", f"/subjects/{subject}/versions", {"schema": schema, **more})["id"]
        return schema_id


def lacks_export(path: str) -> tuple[int, dict[str, str]] | None:
    """Refuse what registries of other vendors lack."""
    return (404, {}) if path.startswith("/export") else None


@contextmanager
def proxied(app: Application) -> Iterator[Proxied]:
    """Run the application behind a server."""
    with running(app) as application:
        registry = Proxied(application)

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                with registry.lock:
                    registry.paths.append(self.path)
                    refused = registry.refuse(self.path)
                    if refused is not None:
                        status, headers, body = *refused, b"{}"
                    else:
                        registry.before(self.path)
                        answer = application.ask("GET", registry.passed_on(self.path), list(self.headers.items()))
                        status, headers, body = (
                            answer.status,
                            dict(answer.headers),
                            registry.altered(self.path, answer.body),
                        )
                self.send_response(status)
                for name, value in headers.items():
                    if name.lower() not in ("content-length", "transfer-encoding"):
                        self.send_header(name, value)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None: ...

        with serving(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as url:
            registry.url = url
            yield registry
