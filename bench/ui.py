"""The page in a real browser, beside its budget and a bare page: first visit, 20,000 subjects, search, memory.

The page is the built one, from a wheel of this checkout; `--modules` measures the modules of the checkout as they lie.

python bench/ui.py [--subjects 20000] [--repeats 7] [--modules]
"""

from __future__ import annotations

import argparse
import json
import os
import runpy
import statistics
import sys
import threading
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Browser, Page, Request, sync_playwright

from magicbyte.cli.demo import flights
from magicbyte.testing.servers import running_registry
from magicbyte.ui.files import Files

sys.path.insert(0, str(Path(__file__).parents[1]))  # a bench runs with -P
from tests.ui.kit.wheel import unzipped_wheel

BARE = b"<!doctype html><title>bare</title><p>bare</p>"
VERSIONS = (flights.schema(), flights.schema(flights.SOURCE_FIELD), flights.third_schema())
#: Where a page is -> the most requests to the API.
REQUESTS = {
    "subjects": 1,
    "subjects/flights-value/versions/3": 4,
    "subjects/flights-value/compare?from=1&to=3": 4,
    "subjects/flights-value": 3,
}
#: Routes that the frame of every page asks in the background: leader and offset, contexts, and the stream of changes.
FRAME = ("/health/ready", "/contexts", "/events", "/mode", "/config", "/schemas/types")
ROW = "table.subjects tbody tr"
#: Notes when the first row is in the document, the longest task, and the time from each key to the frame with new rows.
OBSERVE = """
window.seen = {rows: 0, task: 0, keys: []};
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) window.seen.task = Math.max(window.seen.task, entry.duration);
}).observe({type: "longtask"});
let key = 0;
addEventListener("keydown", () => { key = performance.now(); }, true);
new MutationObserver(() => {
  if (!window.seen.rows && document.querySelector("ROW")) window.seen.rows = performance.now();
  if (!key) return;
  const began = key;
  key = 0;
  requestAnimationFrame(() => window.seen.keys.push(performance.now() - began));
}).observe(document, {childList: true, subtree: true, characterData: true});
""".replace("ROW", ROW)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--subjects", type=int, default=20_000)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--modules", action="store_true")
    options = parser.parse_args()
    chromium = runpy.run_path(str(Path(__file__).parents[1] / "tests" / "browser" / "chromium.py"))
    with ExitStack() as stack:
        folder = Path(__file__).parents[1] if options.modules else stack.enter_context(unzipped_wheel())
        os.environ["PYTHONPATH"] = str(folder)
        size = memory_of_files(folder / "magicbyte" / "ui" / "page")
        rows: list[list[str]] = [["the page's files in the server's memory", f"{size / 1e6:.1f} MB", "3 MB"]]
        registry = stack.enter_context(running_registry("memory:"))
        bare_url = stack.enter_context(bare_page())
        playwright = stack.enter_context(sync_playwright())
        browser = playwright.chromium.launch(executable_path=chromium["find"]())
        fill(registry.url, options.subjects)
        url = f"{registry.url}/ui/"
        rows += [*first_visits(browser, url, bare_url, options.repeats)]
        rows += [*with_many(browser, url)]
        rows += [*requests_of_pages(browser, url)]
        rows += [*large_text(browser, url)]
        browser.close()
    for what, measured, budget in (["", "measured", "budget"], *rows):
        print(f"{what:58} {measured:>24} {budget:>8}")


def fill(url: str, subjects: int) -> None:
    lines = [
        {"subject": f"billing.refund.settled.v{number}-value", "version": 1, "id": number + 10, "schema": '"string"'}
        for number in range(subjects)
    ]
    with httpx.Client(base_url=url, timeout=120, trust_env=False) as client:
        for text in VERSIONS:
            client.post("/subjects/flights-value/versions", json={"schema": text}).raise_for_status()
        fields = [
            {"name": f"a_long_name_of_a_field_{n:05}", "type": "string", "doc": "what it says"} for n in range(36_000)
        ]
        large = json.dumps({"type": "record", "name": "Large", "fields": fields})
        lines.append({"subject": "large-value", "version": 1, "id": subjects + 10, "schema": large})
        headers = {"Content-Type": "application/x-ndjson"}
        body = "\n".join(map(json.dumps, lines))
        client.post("/import?lines=true", content=body, headers=headers).raise_for_status()


def memory_of_files(folder: Path) -> int:
    tracemalloc.start()
    files = Files(folder)
    files.page("subjects")
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return size


def first_visits(browser: Browser, url: str, bare_url: str, repeats: int) -> Iterator[list[str]]:
    """The first visit to the list, each in a new context and in turn with the bare page."""
    paints, bare_paints, firsts = [], [], []
    loaded: list[tuple[str, int]] = []
    for _ in range(repeats):
        with new_page(browser) as page:
            page.goto(bare_url)
            bare_paints.append(first_paint(page))
        with new_page(browser) as page:
            loaded = []
            page.on("requestfinished", partial(note_size, loaded))
            page.goto(url)
            page.locator(ROW).first.wait_for()
            firsts.append(page.evaluate("window.seen.rows"))
            paints.append(first_paint(page))
    files = [(name, size) for name, size in loaded if "/ui/" in name and "/fonts/" not in name]
    size = sum(size for _, size in files)
    yield ["first visit, without fonts and data", f"{size / 1000:.0f} KB in {len(files)} requests", "90 KB"]
    yield ["first paint", f"{statistics.median(paints):.0f} ms", "100 ms"]
    yield ["  of a bare page", f"{statistics.median(bare_paints):.0f} ms", ""]
    yield ["first rows", f"{statistics.median(firsts):.0f} ms", "250 ms"]


def note_size(loaded: list[tuple[str, int]], request: Request) -> None:
    """Add the bytes of an answer, which are compressed."""
    sizes = request.sizes()
    loaded.append((request.url, sizes["responseBodySize"] + sizes["responseHeadersSize"]))


def with_many(browser: Browser, url: str) -> Iterator[list[str]]:
    """Search, scrolling and memory of the long list."""
    with new_page(browser) as page:
        page.goto(url)
        page.locator(ROW).first.wait_for()
        page.evaluate("window.seen.keys = []")
        page.get_by_role("searchbox", name="Search subjects").click()
        for key in "refund settled v19":
            page.keyboard.press("Space" if key == " " else key)
            page.wait_for_timeout(100)
        keys = page.evaluate("window.seen.keys")
        yield ["key to rows, median and worst", f"{statistics.median(keys):.0f} and {max(keys):.0f} ms", "50 ms"]
        page.keyboard.press("Escape")
        page.goto(url)
        page.locator(ROW).first.wait_for()
        page.evaluate("window.seen.task = 0")
        most = 0
        page.mouse.move(600, 500)
        for _ in range(30):
            page.mouse.wheel(0, 25_000)
            page.wait_for_timeout(30)
            most = max(most, page.locator(ROW).count())
        yield ["longest task while scrolling", f"{page.evaluate('window.seen.task'):.0f} ms", "100 ms"]
        yield ["rows in the document", str(most), "120"]
        before = heap(page)
        yield ["heap", f"{before / 1e6:.1f} MB", "30 MB"]
        for _ in range(25):
            page.evaluate("scrollTo(0, 0)")
            page.locator(f"{ROW} a").first.click()
            page.get_by_role("heading", level=1).wait_for()
            page.go_back()
            page.locator(ROW).first.wait_for()
        yield ["heap after 50 navigations", f"{(heap(page) - before) / 1e6:+.1f} MB", "+5 MB"]


def requests_of_pages(browser: Browser, url: str) -> Iterator[list[str]]:
    """Count the requests to the API that a page makes, without those of its frame."""
    for path, most in REQUESTS.items():
        with new_page(browser) as page:
            asked: list[str] = []
            together: list[str] = []
            page.on("request", partial(note_address, asked))
            page.on("request", partial(note_together, together))
            page.goto(url + path)
            page.wait_for_load_state("load")
            page.wait_for_timeout(1500)
            paths = [name.removeprefix(url.removesuffix("/ui/")) for name in asked if "/ui/" not in name]
            data = [path for path in paths if not path.startswith(FRAME)]
            data += [path for path in together if not path.startswith(FRAME)]
            yield [f"requests of /ui/{path}", f"{len(data)}: {', '.join(data)}", str(most)]


def large_text(browser: Browser, url: str) -> Iterator[list[str]]:
    """A text of 3 MB: the time until its first line, the nodes of the document, and the longest task."""
    with new_page(browser) as page:
        page.goto(url + "decode")
        page.get_by_role("heading", level=1).wait_for()
        began = time.monotonic()
        page.goto(url + "subjects/large-value/versions/1")
        page.locator("#L1").wait_for()
        yield ["a text of 3 MB", f"{time.monotonic() - began:.2f} s", "2 s"]
        yield ["  nodes", str(page.evaluate("document.getElementsByTagName('*').length")), "6,000"]
        yield ["  longest task", f"{page.evaluate('window.seen.task'):.0f} ms", "200 ms"]


def note_together(paths: list[str], request: Request) -> None:
    """Note the GETs that the page's server sends for the page, with one request of the browser."""
    if request.url.endswith("/ui/together"):
        paths += (request.post_data_json or {})["paths"]


def note_address(asked: list[str], request: Request) -> None:
    asked.append(request.url)


@contextmanager
def new_page(browser: Browser) -> Iterator[Page]:
    """A page in a new context, which has nothing in its cache."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.add_init_script(OBSERVE)
    yield context.new_page()
    context.close()


def first_paint(page: Page) -> float:
    paint = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"
    while (time := page.evaluate(paint)) is None:
        page.wait_for_timeout(20)
    return float(time)


def heap(page: Page) -> int:
    """The bytes that are in use after a garbage collection."""
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    usage: dict[str, Any] = session.send("Runtime.getHeapUsage")
    return int(usage["usedSize"])


class Bare(BaseHTTPRequestHandler):
    """A page with nothing on it."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(BARE)))
        self.end_headers()
        self.wfile.write(BARE)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def bare_page() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Bare) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


if __name__ == "__main__":
    main()
