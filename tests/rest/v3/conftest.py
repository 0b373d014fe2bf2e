"""The cluster's path, and requests whose answers are compared."""

from __future__ import annotations

from typing import Any

import httpx
import pytest


class V3:
    """Sends requests to the cluster of a proxy."""

    def __init__(self, client: httpx.Client) -> None:
        self.client = client
        self.cluster_id: str = client.get("/v3/clusters").json()["data"][0]["cluster_id"]
        self.path = f"/v3/clusters/{self.cluster_id}"
        self.url = f"{str(client.base_url).rstrip('/')}{self.path}"
        self.crn = f"crn:///kafka={self.cluster_id}"

    def ask(self, method: str, path: str, body: Any = None, **options: Any) -> tuple[int, Any]:
        """The status and the JSON of an answer; None for an answer without a body."""
        answer = self.answer(method, path, body, **options)
        return answer.status_code, answer.json() if answer.content else None

    def answer(self, method: str, path: str, body: Any = None, **options: Any) -> httpx.Response:
        content = {} if body is None else {"content": body} if isinstance(body, (bytes, str)) else {"json": body}
        headers = {"content-type": "application/json"} if isinstance(body, (bytes, str)) else {}
        return self.client.request(method, f"{self.path}/{path}", headers=headers, **content, **options)

    def get(self, path: str, **options: Any) -> Any:
        """The JSON of an answer that is a success."""
        status, body = self.ask("GET", path, **options)
        assert status == 200, body
        return body

    def relation(self, path: str) -> dict[str, str]:
        return {"related": f"{self.url}/{path}"}

    def metadata(self, path: str, crn: str) -> dict[str, str]:
        return {"self": f"{self.url}/{path}", "resource_name": f"{self.crn}/{crn}"}


@pytest.fixture(scope="session")
def v3(rest: Any) -> V3:
    return V3(rest)


@pytest.fixture(scope="session")
def cluster(v3: V3) -> str:
    """The path of the cluster, such as `/v3/clusters/abc`."""
    return v3.path
