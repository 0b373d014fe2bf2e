"""Searches of several clients: they take turns for the thread that scans."""

from __future__ import annotations

import asyncio
import threading
from types import SimpleNamespace
from typing import Any, cast

import pytest

from registry.feed import searching as searching_module
from registry.feed.searching import Searching


def test_clients_take_turns_to_search(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    may_scan = threading.Event()

    def scan_words(_view: Any, query: str, *_: Any) -> Any:
        assert may_scan.wait(30)
        order.append(query)
        return SimpleNamespace(unread=[], hits=[], counts={})

    monkeypatch.setattr(searching_module, "scan_words", scan_words)

    async def main() -> None:
        searching = Searching(cast("Any", None))

        async def search(query: str) -> None:
            await searching.search_words(cast("Any", None), cast("Any", query), first=0, end=9, client=query[0])

        asking = [asyncio.ensure_future(search(query)) for query in ("a1", "a2", "a3", "a4", "b1", "c1")]
        await asyncio.sleep(0)
        may_scan.set()
        await asyncio.gather(*asking)
        searching.close()

    asyncio.run(main())
    assert order == ["a1", "a2", "b1", "c1", "a3", "a4"]
