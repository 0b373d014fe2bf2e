"""The comment under a pull request: its text, and how it is written and updated."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from compat.edits import Fix, TextEdit
from compat.schema import Position
from magicbyte.check.commenting import post
from magicbyte.check.findings import Finding, Report
from magicbyte.check.outputs.markdown import MARK, MOST_BYTES, render
from magicbyte.kit.failure import Failure
from tests.http.serving import serving

EXAMPLE = Path(__file__).parents[3] / "examples" / "ci"
GOLDEN = Path(__file__).parent / "comment.md"


def test_the_comment_of_a_sample_repository(project: Any):
    shutil.copytree(EXAMPLE / "schemas", project.folder / "schemas")
    project.write("magicbyte.toml", 'compatibility = "FULL"\n')
    project.commit()
    project.edit("schemas/orders/order.proto", "string id = 1;", "int64 id = 1;")
    project.edit(
        "schemas/customers/customer.avsc", '"name": "phone", "type": "string"', '"name": "phone", "type": "int"'
    )
    _, out, _ = project.run("check", "--format", "github-markdown")
    head = project.git("rev-parse", "--short=7", "main").strip()
    assert out.replace(head, "1a2b3c4") == GOLDEN.read_text("utf-8")


def finding(**more: Any) -> Finding:
    return Finding("RULE", "a.avsc", Position(1, 1), more.pop("message", "It changed."), **more)


def test_nothing_in_a_schema_is_markup():
    told = render(Report(findings=(finding(message="`<b>` @all [x](y) ``` # * _", subject="<img>"),)))
    assert "\\`&lt;b&gt;\\` \\@all \\[x\\](y)" in told
    assert "<b>&lt;img&gt;</b>" in told
    fix = Fix("Keep it", (TextEdit(0, 1, "````"),))
    told = render(Report(findings=(finding(text="a\n", fixes=(fix,)),)))
    assert "`````diff\n@@ -1 +1 @@\n-a\n+````\n`````" in told


def test_a_comment_has_a_bound():
    told = render(Report(findings=tuple(finding(message="é" * 900, subject=f"s{at}") for at in range(200))))
    assert len(told.encode()) <= MOST_BYTES
    assert "more are left out here" in told
    assert told.count("<details") == told.count("</details>")


def test_nothing_breaks():
    assert render(Report()) == f"{MARK}\n### Schema check: 0 schemas, nothing breaks\n"


@dataclass
class Host:
    """A code host with the comments of one pull request."""

    url: str
    comments: list[dict[str, Any]] = field(default_factory=list)
    requests: list[tuple[str, str, str | None]] = field(default_factory=list)
    broken: int = 0


@pytest.fixture
def host() -> Iterator[Host]:
    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            token = self.headers.get("Authorization") or self.headers.get("PRIVATE-TOKEN")
            path, _, query = self.path.partition("?")
            served.requests.append((self.command, path, token))
            if self.command == "POST":
                served.comments.append({"id": 7 + len(served.comments), **body})
            elif self.command in {"PATCH", "PUT"}:
                number = int(path.rpartition("/")[2])
                next(comment for comment in served.comments if comment["id"] == number).update(body)
            first = 100 * (int(query.rpartition("=")[2]) - 1) if query else 0
            text = json.dumps(served.comments[first : first + 100] if self.command == "GET" else {}).encode()
            self.send_response(served.broken or 200)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = do_PATCH = do_PUT = answer  # noqa: N815 - the library's names

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served = Host(f"http://127.0.0.1:{server.server_port}")
    with serving(server):
        yield served


@pytest.fixture
def jobs(host: Host, tmp_path: Path) -> dict[str, dict[str, str]]:
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"pull_request": {"number": 12}}))
    github = {"GITHUB_EVENT_PATH": str(event), "GITHUB_API_URL": host.url, "GITHUB_REPOSITORY": "o/r"}
    gitlab = {"CI_API_V4_URL": host.url, "CI_PROJECT_ID": "3", "CI_MERGE_REQUEST_IID": "12"}
    return {
        "github": {**github, "GITHUB_TOKEN": "secret"},
        "gitlab": {**gitlab, "MAGICBYTE_GITLAB_TOKEN": "secret"},
    }


PATHS = {
    "github": ("/repos/o/r/issues/12/comments", "/repos/o/r/issues/comments/108", "PATCH", "Bearer secret"),
    "gitlab": ("/projects/3/merge_requests/12/notes", "/projects/3/merge_requests/12/notes/108", "PUT", "secret"),
}


@pytest.mark.parametrize("kind", PATHS)
def test_one_comment_is_written_and_updated(host: Host, jobs: dict[str, dict[str, str]], kind: str):
    comments, comment, method, token = PATHS[kind]
    host.comments += [{"id": number, "body": "of people"} for number in range(101)]
    broken = Report(findings=(finding(),))
    assert post(Report(), jobs[kind]) == "no comment: nothing breaks"
    assert post(broken, jobs[kind]) == "comment written"
    assert post(broken, jobs[kind]) == "comment is up to date"
    assert post(Report(), jobs[kind]) == "comment updated"
    assert [comment["body"] for comment in host.comments[101:]] == [render(Report())]
    changes = [request for request in host.requests if request[0] != "GET"]
    assert changes == [("POST", comments, token), (method, comment, token)]


def test_a_job_without_a_pull_request_or_token_fails(host: Host, jobs: dict[str, dict[str, str]], tmp_path: Path):
    with pytest.raises(Failure, match="no job of a pull request"):
        post(Report(), {})
    with pytest.raises(Failure, match="GITHUB_TOKEN is not set"):
        post(Report(), {**jobs["github"], "GITHUB_TOKEN": ""})
    with pytest.raises(Failure, match="MAGICBYTE_GITLAB_TOKEN is not set"):
        post(Report(), {**jobs["gitlab"], "MAGICBYTE_GITLAB_TOKEN": ""})
    other = tmp_path / "push.json"
    other.write_text("{}")
    with pytest.raises(Failure, match="is no pull request"):
        post(Report(), {**jobs["github"], "GITHUB_EVENT_PATH": str(other)})
    host.broken = 403
    with pytest.raises(Failure, match="was answered 403"):
        post(Report(), jobs["github"])


def test_the_option_posts_the_findings_of_the_check(
    project: Any, host: Host, jobs: Any, monkeypatch: pytest.MonkeyPatch
):
    for name, value in jobs["github"].items():
        monkeypatch.setenv(name, value)
    project.write("a.avsc", '"string"')
    project.commit()
    project.write("a.avsc", '"int"')
    code, _, err = project.run("check", "--comment")
    assert (code, err) == (100, "magicbyte: comment written\n")
    assert "TYPE_MISMATCH" in host.comments[0]["body"]
    host.broken = 403
    code, _, err = project.run("check", "--comment")
    assert code == 100
    assert err.startswith("magicbyte: no comment: GET http")
