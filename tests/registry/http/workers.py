"""Answers that a worker process computes."""

from __future__ import annotations

from typing import Any

from tests.waiting import until


def answered_by_worker(api: Any, path: str, body: Any) -> Any:
    """The answer as soon as a worker is free; on a busy machine, workers, which have a low priority, may take long."""
    answers: list[Any] = []

    def is_answered() -> bool:
        answers.append(api("POST", path, body))
        return bool(answers[-1].status_code != 503)

    until(is_answered)
    return answers[-1]
