"""The documents of the REST proxy and of the page are generated from their rows, and FastAPI solves nearly all rows."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from fastapi.dependencies.models import Dependant

from magicbyte.http.routing.rows import Row
from magicbyte.http.routing.solved import SolvedRoute, takes_only_the_request
from magicbyte.ui import description as page
from rest_proxy.http import description as v2
from rest_proxy.http.rows import ROWS
from rest_proxy.v3 import description as v3
from rest_proxy.v3.rows import V3_ROWS
from tests.registry.http.test_contract import is_locked

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(not is_locked("fastapi", "pydantic", "msgspec"), reason="other versions write the same otherwise")
@pytest.mark.parametrize(
    ("name", "text"),
    [("rest-proxy-v2.yaml", v2.text), ("rest-proxy-v3.yaml", v3.text), ("ui.yaml", page.text)],
    ids=["v2", "v3", "page"],
)
def test_the_document_is_generated_from_the_rows(name: str, text: Callable[[], str]) -> None:
    """After a change of a row, `make openapi` writes the file anew."""
    assert (ROOT / "openapi" / name).read_text(encoding="utf-8") == text()


@pytest.mark.parametrize(
    ("rows", "bare"),
    [
        (ROWS, {"produceToTopic", "produceToPartition", "records"}),
        (V3_ROWS, {"produceRecord", "produceRecordsBatch", "readPartitionRecords", "readRecords"}),
        (page.page_rows(), set()),
    ],
    ids=["v2", "v3", "page"],
)
def test_few_handlers_take_the_bare_request(rows: Sequence[Row], bare: set[str]) -> None:
    assert {row.operation_id for row in rows if row.declared is not None} == bare
    # The others of these have nothing to declare: no parameter in the path, and no body.
    taking = {row for row in rows if takes_only_the_request(row.innermost)}
    assert {row.operation_id for row in taking if "{" in row.path or row.method not in ("GET", "HEAD")} == bare


def calls(dependant: Dependant) -> Iterator[Any]:
    for dependency in dependant.dependencies:
        yield dependency.call
        yield from calls(dependency)


@pytest.mark.parametrize("rows", [ROWS, V3_ROWS, page.page_rows()], ids=["v2", "v3", "page"])
def test_no_dependency_waits_for_a_thread(rows: Sequence[Row]) -> None:
    """FastAPI calls what is no coroutine function in one of 40 threads."""
    called = {call for row in rows for call in calls(SolvedRoute(row).dependant)}
    functions = [call if inspect.isfunction(call) else call.__call__ for call in called]
    waiting = [
        call for call in functions if not inspect.iscoroutinefunction(call) and not inspect.isasyncgenfunction(call)
    ]
    assert len(functions) > 5
    assert waiting == []
