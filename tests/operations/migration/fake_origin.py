"""A tiny registry over HTTP that answers as one vendor does, with the versions that a test gives it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import unquote, urlsplit

#: Vendor -> what it answers to the probes; a path that is missing is answered with 404.
PROBES: Mapping[str, Mapping[str, Any]] = {
    "confluent": {"/v1/metadata/version": {"version": "7.6.1", "commitId": "abc"}, "/": {}},
    "axonops": {"/v1/metadata/version": {"version": "0.2.1", "commit": "unknown"}, "/": {}},
    "karapace": {"/_health": {"karapace_version": "6.2.0", "healthy": True}, "/": "Karapace"},
    "redpanda": {"/v1": {"swagger": "2.0", "info": {"title": "Pandaproxy Schema Registry"}}},
    "apicurio": {"/apis/registry/v3/system/info": {"name": "Apicurio Registry (SQL)", "version": "3.1.0"}},
    "apicurio 2": {"/apis/registry/v2/system/info": {"name": "Apicurio Registry (SQL)", "version": "2.6.5"}},
    "": {},
}
#: Stands for JSON's null in `answers`, in which None is 404.
NULL: Any = object()
_VERSIONS = re.compile(r"/subjects/([^/]+)/versions(?:/(\d+))?")


def version(subject: str, number: int, schema_id: int, schema: str, **more: Any) -> dict[str, Any]:
    """An answer of GET /subjects/{subject}/versions/{number}."""
    return {"subject": subject, "version": number, "id": schema_id, "schema": schema, **more}


@contextmanager
def fake_origin(
    vendor: str,
    versions: Sequence[Mapping[str, Any]] = (),
    *,
    base: str = "",
    answers: Mapping[str, Any] | None = None,
    finds_all: bool = False,
    look_up_status: int = 0,
) -> Iterator[str]:
    """Run a registry; yields its URL.

    Args:
        vendor: A key of `PROBES`.
        versions: The versions.
        base: The path of its API, such as `/apis/ccompat/v7`.
        answers: Path below the base -> answer, beside the usual ones.
        finds_all: Whether a look-up of any text finds the first version of the subject.
        look_up_status: The status of each look-up; 0 for what it finds.
    """
    fixed: dict[str, Any] = {
        "/schemas/types": ["AVRO", "JSON", "PROTOBUF"],
        "/contexts": ["."],
        "/config": {"compatibilityLevel": "BACKWARD"},
        "/mode": {"mode": "READWRITE"},
        "/subjects": sorted({one["subject"] for one in versions}),
    }
    known = {
        **{f"{base}{path}": answer for path, answer in fixed.items()},
        **PROBES[vendor],
        **{f"{base}{path}": answer for path, answer in (answers or {}).items()},
    }

    def answer_to(path: str) -> Any:
        if path in known:
            return known[path]
        path = path.removeprefix(base)
        match = _VERSIONS.fullmatch(path)
        if match:
            mine = [one for one in versions if one["subject"] == unquote(match[1])]
            if match[2] is None:
                return [one["version"] for one in mine] or None
            return next((one for one in mine if one["version"] == int(match[2])), None)
        if path.startswith("/schemas/ids/"):
            return next((one for one in versions if str(one["id"]) == path.rpartition("/")[2]), None)
        return None

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_arguments: Any) -> None:
            """Say nothing."""

        def do_GET(self) -> None:
            self._send(answer_to(unquote(urlsplit(self.path).path)))

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            subject = unquote(urlsplit(self.path).path).rpartition("/")[2]
            mine = [one for one in versions if one["subject"] == subject]
            same = mine if finds_all else [one for one in mine if one["schema"] == body["schema"]]
            self._send(same[0] if same else None, look_up_status)

        def _send(self, answer: Any, status: int = 0) -> None:
            status = status or (404 if answer is None else 200)
            value = {"error_code": 404, "message": "not found"} if answer is None else answer
            content = json.dumps(None if value is NULL else value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/vnd.schemaregistry.v1+json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}{base}"
    finally:
        server.shutdown()
        server.server_close()
