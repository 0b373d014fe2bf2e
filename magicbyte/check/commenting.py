"""`--comment`: one comment on a pull or merge request, created by the first run and updated by later runs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from magicbyte.check.findings import Report
from magicbyte.check.outputs.markdown import MARK, render
from magicbyte.kit.failure import Failure

_TIMEOUT = 20
_PAGE = 100
#: The most comments to search for ours.
_MOST_PAGES = 20


@dataclass(frozen=True, slots=True)
class Thread:
    """The API addresses for the comments of a pull request or merge request.

    Attributes:
        comments: The URL for listing and creating comments.
        comment: The URL of one comment, with `{id}`.
        headers: The headers that authorize the requests.
        method: The HTTP method that updates a comment.
    """

    comments: str
    comment: str
    headers: Mapping[str, str]
    method: str


def post(report: Report, environment: Mapping[str, str] | None = None) -> str:
    """Create or update the comment on this job's pull request; return what was done.

    A check without findings creates no comment, but updates an existing one.

    Args:
        report: The report of the check.
        environment: The job's variables; by default those of this process.

    Raises:
        Failure: The job does not belong to a pull request, has no token, or the code host returns an error.
    """
    thread = _thread(os.environ if environment is None else environment)
    body = render(report)
    with httpx.Client(timeout=_TIMEOUT, headers=dict(thread.headers)) as client:
        existing = next((comment for comment in _comments(client, thread) if _is_ours(comment)), None)
        if existing is None:
            if not report.findings:
                return "no comment: nothing breaks"
            _send(client, "POST", thread.comments, body)
            return "comment written"
        if existing["body"] == body:
            return "comment is up to date"
        _send(client, thread.method, thread.comment.format(id=existing["id"]), body)
        return "comment updated"


def _thread(environment: Mapping[str, str]) -> Thread:
    if "CI_MERGE_REQUEST_IID" in environment:
        return _gitlab(environment)
    if "GITHUB_EVENT_PATH" in environment:
        return _github(environment)
    raise Failure("this is no job of a pull request on GitHub or a merge request on GitLab")


def _github(environment: Mapping[str, str]) -> Thread:
    try:
        event = json.loads(Path(environment["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"))
        number = int(event["pull_request"]["number"])
    except (OSError, ValueError, KeyError, TypeError):
        raise Failure("the event that started this job is no pull request") from None
    token = environment.get("GITHUB_TOKEN") or environment.get("GH_TOKEN")
    if not token:
        raise Failure("GITHUB_TOKEN is not set; it needs `permissions: pull-requests: write`")
    api = environment.get("GITHUB_API_URL", "https://api.github.com")
    issues = f"{api}/repos/{environment.get('GITHUB_REPOSITORY', '')}/issues"
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/vnd.github+json"}
    return Thread(f"{issues}/{number}/comments", f"{issues}/comments/{{id}}", headers, "PATCH")


def _gitlab(environment: Mapping[str, str]) -> Thread:
    token = environment.get("MAGICBYTE_GITLAB_TOKEN")
    if not token:
        raise Failure("MAGICBYTE_GITLAB_TOKEN is not set; a project access token with the scope `api`")
    project, number = environment.get("CI_PROJECT_ID", ""), environment["CI_MERGE_REQUEST_IID"]
    api = environment.get("CI_API_V4_URL", "https://gitlab.com/api/v4")
    notes = f"{api}/projects/{project}/merge_requests/{number}/notes"
    return Thread(notes, f"{notes}/{{id}}", {"PRIVATE-TOKEN": token}, "PUT")


def _comments(client: httpx.Client, thread: Thread) -> Iterator[dict[str, Any]]:
    for page in range(1, _MOST_PAGES + 1):
        comments = _answered(client, "GET", f"{thread.comments}?per_page={_PAGE}&page={page}")
        if not isinstance(comments, list):
            raise Failure(f"{thread.comments} did not answer with a list of comments")
        yield from (comment for comment in comments if isinstance(comment, dict))
        if len(comments) < _PAGE:
            return


def _is_ours(comment: Mapping[str, Any]) -> bool:
    return str(comment.get("body", "")).startswith(MARK) and "id" in comment


def _send(client: httpx.Client, method: str, address: str, body: str) -> None:
    _answered(client, method, address, {"body": body})


def _answered(client: httpx.Client, method: str, address: str, body: Any = None) -> Any:
    try:
        answer = client.request(method, address, json=body)
    except httpx.HTTPError as error:
        raise Failure(f"{address} does not answer: {error}") from None
    if answer.is_error:
        raise Failure(f"{method} {address} was answered {answer.status_code}")
    try:
        return answer.json()
    except ValueError:
        raise Failure(f"{address} did not answer with JSON") from None
