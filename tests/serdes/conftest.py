from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, unquote
from uuid import UUID

import orjson
import pytest

from serdes.asgi import AsgiTransport
from serdes.client import CacheLimits, RegistryClient, Retry


class Stub:
    """A registry's register, look-up and reads, for as long as there is no other."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.subjects: dict[str, list[dict[str, Any]]] = {}
        self.asked: list[str] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        message = await receive()
        path = [unquote(part) for part in scope["raw_path"].decode().split("/")[1:]]
        query = {name: value[-1] for name, value in parse_qs(scope["query_string"].decode()).items()}
        body = orjson.loads(message["body"]) if message.get("body") else {}
        self.asked.append(f"{scope['method']} {scope['raw_path'].decode()}")
        status, answer = self.answer(scope["method"], path, query, body)
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": orjson.dumps(answer)})

    def answer(self, method: str, path: list[str], query: dict[str, str], body: Any) -> tuple[int, Any]:
        match method, path:
            case "POST", ["subjects", subject, "versions"]:
                return 200, self.register(subject, body)
            case "POST", ["subjects", subject]:
                for held in self.subjects.get(subject, ()):
                    if held["schema"] == body["schema"]:
                        return 200, held
                return 404, {"error_code": 40403, "message": "Schema not found"}
            case "GET", ["subjects", subject, "versions", number]:
                versions = self.subjects.get(subject)
                if not versions:
                    return 404, {"error_code": 40401, "message": f"Subject '{subject}' not found."}
                return 200, versions[-1 if number == "latest" else int(number) - 1]
            case "GET", ["subjects", subject, "versions"]:
                return 200, [held["version"] for held in self.subjects[subject]]
            case "GET", ["subjects", subject, "metadata"]:
                for held in reversed(self.subjects.get(subject, [])):
                    if (held.get("metadata") or {}).get("properties", {}).get(query["key"]) == query["value"]:
                        return 200, held
            case "GET", ["schemas", ("ids" | "guids") as kind, known]:
                for versions in self.subjects.values():
                    for held in versions:
                        if str(held["id" if kind == "ids" else "guid"]) == known:
                            return 200, held
                return 404, {"error_code": 40403, "message": f"Schema {known} not found"}
        return 404, {"error_code": 404, "message": "HTTP 404 Not Found"}

    def register(self, subject: str, body: Any) -> Any:
        versions = self.subjects.setdefault(subject, [])
        for held in versions:
            if held["schema"] == body["schema"] and held.get("metadata") == body.get("metadata"):
                return held
        identity = orjson.dumps([body["schema"], body.get("metadata")]).decode()
        if identity not in self.ids:
            self.ids.append(identity)
        guid = str(UUID(bytes=hashlib.md5(identity.encode()).digest()))
        held = {
            "subject": subject,
            "version": len(versions) + 1,
            "id": self.ids.index(identity) + 1,
            "guid": guid,
            "schemaType": "AVRO",
            **body,
        }
        versions.append(held)
        return held


@pytest.fixture
def app() -> Stub:
    return Stub()


@pytest.fixture
def client(app: Stub) -> Iterator[RegistryClient]:
    limits = CacheLimits(latest_ttl=None)
    with RegistryClient("http://registry", transport=AsgiTransport(app), retry=Retry(0), cache=limits) as client:
        yield client
