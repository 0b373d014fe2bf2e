"""Fixtures for the tests of the page.

A test of a view takes `page`, which is a tab in a new browser context, and goes to paths below `/ui/` of `registry`,
the filled registry that all tests share:

    pytestmark = pytest.mark.browser

    def test_a_version(page: Page, watch: Watch) -> None:
        page.goto("subjects/flights-value/versions/3")
        expect(page.get_by_role("heading", level=1)).to_have_text("flights-value")
        assert watch.count("GET /subjects/") <= 4

The test fails on errors of the console, on violations of the policy, on requests to other hosts, and on answers >= 400
that it did not name with `watch.expect(404, "/subjects/gone")`. Use `registry` only for reading. A test that changes
something takes `scratch`, a filled registry of its file, and opens it by `open_page(scratch.url)`, which also opens
second tabs, other themes and widths: `open_page(theme="dark", width=320)`.
"""

from __future__ import annotations

import runpy
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from magicbyte.platform.server_process import ServerProcess
from magicbyte.testing import running_registry
from tests.ui.kit.filling import fill
from tests.ui.kit.wheel import unzipped_wheel

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from tests.ui.kit.watch import Watch

_CHROMIUM = Path(__file__).parents[1] / "browser" / "chromium.py"

#: The built page sends GETs of one moment as one request. Tests count and fake single ones, as the checkout sends them.
_EACH_BY_ITSELF = """
document.addEventListener("readystatechange", () => {
  const meta = document.querySelector("meta[name=magicbyte-config]");
  if (meta !== null) meta.content = JSON.stringify({ ...JSON.parse(meta.content), features: [] });
});
"""

#: Opens a page: of a server's URL (`registry` by default), in a theme, with a width and a height.
OpenPage = Callable[..., "Page"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let `make test AREA=ui ARGS=--renew-pictures` make the pictures of docs/page anew."""
    parser.addoption("--renew-pictures", action="store_true", help="make the pictures of the page anew")


@pytest.fixture(scope="session")
def registry() -> Iterator[ServerProcess]:
    """A registry with the subjects of `tests.ui.kit.filling`, which tests only read."""
    with running_registry("memory:") as server:
        fill(server.url)
        yield server


@pytest.fixture(scope="session")
def wheel() -> Iterator[Path]:
    """The folder of the unzipped wheel, with the built page; a server with it in PYTHONPATH serves that."""
    if shutil.which("npm") is None:
        pytest.skip("the page is built by Node")
    with unzipped_wheel() as folder:
        yield folder


@pytest.fixture(scope="session")
def built(wheel: Path) -> Iterator[ServerProcess]:
    """A filled registry of the wheel, which serves the built page; tests only read it."""
    with ExitStack() as stack:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PYTHONPATH", str(wheel))
            server = stack.enter_context(running_registry("memory:"))
        fill(server.url)
        yield server


@pytest.fixture(scope="module")
def scratch() -> Iterator[ServerProcess]:
    """A filled registry that the tests of one file may change."""
    with running_registry("memory:") as server:
        fill(server.url)
        yield server


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser; it starts in a second. Its event loop would disturb the tests of other files if it lived longer."""
    from playwright.sync_api import expect, sync_playwright  # noqa: PLC0415  most tests need no browser

    expect.set_options(timeout=30_000)
    chromium = runpy.run_path(str(_CHROMIUM))
    path = chromium["find"]()
    if path is None:
        pytest.fail(chromium["MISSING"], pytrace=False)
    with sync_playwright() as playwright:
        # The name of an attacker's page leads to this machine, as after DNS rebinding.
        rebound = "--host-resolver-rules=MAP evil.test 127.0.0.1"
        launched = playwright.chromium.launch(executable_path=path, args=[rebound, "--font-render-hinting=none"])
        yield launched
        launched.close()


@pytest.fixture
def watch() -> Iterator[Watch]:
    """Collects the problems of all pages of the test; see `Watch`."""
    from tests.ui.kit.watch import Watch  # noqa: PLC0415  as above

    watch = Watch(hosts=set())
    yield watch
    watch.check()


@pytest.fixture
def open_page(request: pytest.FixtureRequest, browser: Browser, watch: Watch) -> Iterator[OpenPage]:
    """Opens pages, each in a new context or as a second tab of a `context`; `goto` takes paths below `/ui/`."""
    contexts = []

    def open_page(
        url: str | None = None,
        *,
        theme: str = "light",
        width: int = 1280,
        height: int = 800,
        context: Any = None,
        together: bool = False,
        **options: Any,
    ) -> Page:
        url = url or request.getfixturevalue("registry").url
        watch.hosts.add(urlsplit(url).netloc)
        if context is None:
            options.setdefault("base_url", f"{url}/ui/")
            options.setdefault("reduced_motion", "reduce")
            context = browser.new_context(
                viewport={"width": width, "height": height},
                color_scheme=theme,  # type: ignore[arg-type]  # light or dark
                locale="en-GB",
                timezone_id="UTC",
                **options,
            )
            context.set_default_timeout(30_000)
            if not together:
                context.add_init_script(_EACH_BY_ITSELF)
            watch.watch(context)
            contexts.append(context)
        page: Page = context.new_page()
        return page

    yield open_page
    for context in contexts:
        context.close()


@pytest.fixture
def page(open_page: OpenPage) -> Page:
    """A tab of the shared registry, 1280x800, light."""
    return open_page()
