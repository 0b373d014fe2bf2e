"""The page's files as the registry sends them: their forms, their headers, and index.html for every URL of the page."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx
import pytest

from magicbyte.platform.server_process import ServerProcess
from magicbyte.ui.files import FOLDER, Files
from magicbyte.ui.preloads import Preloads
from magicbyte.ui.style_sheets import inline_style

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'"
)
NAVIGATION = {
    "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "Sec-Fetch-Site": "none",
    "Sec-Fetch-Mode": "navigate",
    "Sec-Fetch-Dest": "document",
}


@pytest.fixture(scope="module")
def http(registry: ServerProcess) -> Any:
    with httpx.Client(base_url=registry.url, trust_env=False) as client:
        yield client


def own_headers(answer: httpx.Response) -> dict[str, str]:
    return {
        name: value
        for name, value in answer.headers.items()
        if name not in ("content-length", "date", "etag", "x-request-id")
    }


def test_the_headers_of_a_file(http: httpx.Client) -> None:
    answer = http.get("/ui/vendor/diff.js", headers={"Accept-Encoding": "gzip"})
    assert own_headers(answer) == {
        "cache-control": "no-cache",
        "content-encoding": "gzip",
        "content-security-policy": POLICY,
        "content-type": "text/javascript; charset=utf-8",
        "cross-origin-opener-policy": "same-origin",
        "referrer-policy": "no-referrer",
        "vary": "Accept-Encoding",
        "x-content-type-options": "nosniff",
    }
    assert answer.content == (FOLDER / "vendor/diff.js").read_bytes()


def test_a_client_without_gzip_gets_the_bytes(http: httpx.Client) -> None:
    with http.stream("GET", "/ui/vendor/diff.js", headers={"Accept-Encoding": "identity"}) as answer:
        body = b"".join(answer.iter_raw())
    assert "content-encoding" not in answer.headers
    assert body == (FOLDER / "vendor/diff.js").read_bytes()
    with http.stream("GET", "/ui/vendor/diff.js", headers={"Accept-Encoding": "br, gzip;q=0"}) as answer:
        assert b"".join(answer.iter_raw()) == body


def test_fonts_are_compressed_once(http: httpx.Client) -> None:
    (font, *_) = sorted((FOLDER / "fonts").glob("*.woff2"))
    answer = http.get(f"/ui/fonts/{font.name}", headers={"Accept-Encoding": "gzip"})
    assert answer.headers["content-type"] == "font/woff2"
    assert "content-encoding" not in answer.headers


def test_a_known_file_is_not_sent_again(http: httpx.Client) -> None:
    first = http.get("/ui/vendor/diff.js")
    again = http.get("/ui/vendor/diff.js", headers={"If-None-Match": f'"other", {first.headers["etag"]}'})
    assert (again.status_code, again.content) == (304, b"")
    assert own_headers(again) == {
        "cache-control": "no-cache",
        "content-security-policy": POLICY,
        "cross-origin-opener-policy": "same-origin",
        "referrer-policy": "no-referrer",
        "vary": "Accept-Encoding",
        "x-content-type-options": "nosniff",
    }
    assert again.headers["etag"] == first.headers["etag"]
    assert http.get("/ui/vendor/diff.js", headers={"If-None-Match": 'W/"other"'}).status_code == 200


def test_head_has_the_headers_alone(http: httpx.Client) -> None:
    get, head = http.get("/ui/"), http.head("/ui/")
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["etag"] == get.headers["etag"]


class Links(HTMLParser):
    """The addresses that a page loads."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []

    def handle_starttag(self, _tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.links += [value for name, value in attrs if name in ("href", "src") and value]


@pytest.mark.parametrize(
    "path",
    [
        "/ui/",
        "/ui/subjects",
        "/ui/subjects/",
        "/ui/subjects/flights-value/versions/3?view=fields",
        "/ui/subjects/a%2Fb%20%252F%3F%23%C3%A9/compare",
        "/ui/contexts/.eu/subjects/orders-value",
        "/ui/subjects/style.css",
        "/ui/subjects/app.js/versions/1",
        "/ui/decode",
        "/ui/registry",
        "/ui/no/such/page",
    ],
)
def test_every_url_of_the_page_leads_to_the_same_files(http: httpx.Client, path: str) -> None:
    answer = http.get(path, headers=NAVIGATION)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    parser = Links()
    parser.feed(answer.text)
    assert parser.links
    # As a browser resolves them behind any prefix.
    links = [link for link in parser.links if not link.startswith("data:")]
    loaded = {urlsplit(urljoin(f"https://example.com/sr{path}", link)).path for link in links}
    assert {link for link in loaded if not link.startswith("/sr/ui/")} == set()
    for link in loaded:
        assert http.get(link.removeprefix("/sr")).status_code == 200, link
    assert "/sr/ui/app.js" in loaded


@pytest.mark.parametrize(
    "path",
    [
        "/ui/gone.js",
        "/ui/views/gone.js",
        "/ui/vendor/",
        "/ui/styles/gone",
        "/ui/../ui/../pyproject.toml",
        "/ui/views/..%2F..%2Fapp.py",
        "/ui/views/%2e%2e/%2e%2e/app.py",
        "/ui/vendor/..\\app.py",
    ],
)
def test_no_file_outside_of_the_page_is_sent(http: httpx.Client, path: str) -> None:
    answer = http.send(httpx.Request("GET", httpx.URL(str(http.base_url)).copy_with(raw_path=path.encode())))
    assert answer.status_code == 404 or answer.text == http.get("/ui/no").text
    assert "def " not in answer.text


def test_types_are_not_sent(http: httpx.Client) -> None:
    assert (FOLDER / "state/types.d.ts").exists()
    assert http.get("/ui/state/types.d.ts").headers["content-type"] != "text/javascript; charset=utf-8"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_files_are_only_read(http: httpx.Client, method: str) -> None:
    answer = http.request(method, "/ui/app.js")
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD")


def test_a_browser_at_the_root_is_sent_to_the_page(http: httpx.Client) -> None:
    sent = http.get("/", headers=NAVIGATION)
    assert (sent.status_code, sent.headers["location"]) == (303, "ui/")
    # A browser on another machine, over plain http.
    plain = http.get("/", headers={"Accept": "text/html,*/*;q=0.8", "Upgrade-Insecure-Requests": "1"})
    assert plain.status_code == 303
    # A text browser, and a person who tries the address with curl.
    assert http.get("/", headers={"Accept": "text/html"}).headers["location"] == "ui/"
    assert http.get("/ui", headers=NAVIGATION).headers["location"] == "ui/"


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Accept": "*/*"},
        {"Accept": "application/vnd.schemaregistry.v1+json"},
        # Java's own HTTP client, and a script of a page.
        {"Accept": "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2"},
        {"Accept": "*/*", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Site": "same-origin"},
    ],
)
def test_all_others_at_the_root_get_the_empty_object(http: httpx.Client, headers: dict[str, str]) -> None:
    answer = http.get("/", headers=headers)
    assert (answer.status_code, answer.json()) == (200, {})


def test_nothing_else_is_sent_to_the_page(http: httpx.Client) -> None:
    assert http.get("/", headers={"Accept": "text/plain"}).status_code == 406
    assert http.get("/subjects", headers={"Accept": "text/html"}).status_code == 406


def test_no_context_has_a_page(http: httpx.Client) -> None:
    assert http.get("/contexts/.eu/ui/", headers=NAVIGATION).status_code == 404


def test_changed_files_are_read_again_in_a_checkout_only(tmp_path: Path) -> None:
    def page_in(root: Path) -> Path:
        folder = root / "magicbyte" / "ui" / "page"
        folder.mkdir(parents=True)
        (folder / "index.html").write_text('<link href="app.js">')
        (folder / "app.js").write_text("")
        (folder / "part.js").write_text("1")
        return folder

    checkout, installed = page_in(tmp_path / "checkout"), page_in(tmp_path / "installed")
    (tmp_path / "checkout" / "pyproject.toml").touch()
    for folder, text in ((checkout, b"22"), (installed, b"1")):
        files = Files(folder)
        (folder / "part.js").write_text("22")
        (folder / "new.js").write_text("3")
        files.page("")
        changed, new = files.find("part.js"), files.find("new.js")
        assert changed is not None
        assert changed.body == text
        assert (new is not None) == (folder is checkout)


def test_the_page_at_a_depth_is_made_once() -> None:
    files = Files()
    assert files.page("subjects/a") is files.page("subjects/b")
    page = files.page("a/b/c")
    assert b'<link rel="modulepreload" href="../../app.js">' in page.body
    assert page.compressed is not None
    assert gzip.decompress(page.compressed) == page.body


#: What would make text into markup or style, which the policy refuses.
_FORBIDDEN = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|srcdoc|new Function|\beval\(|dangerouslySetInnerHTML"
)


def test_no_module_makes_markup_of_text() -> None:
    modules = [path for path in FOLDER.rglob("*.js") if "vendor" not in path.parts]
    assert modules
    assert {str(path.relative_to(FOLDER)) for path in modules if _FORBIDDEN.search(path.read_text())} == set()


def test_nothing_loads_before_the_first_frame() -> None:
    files = Files()
    for path, root in (("subjects", ""), ("contexts/.eu/subjects/a%2Fb/compare", "../../../../")):
        head, _, loads = files.page(path).body.decode().partition('<template id="loads">')
        loads = loads.partition("</template>")[0]
        # The icon is inside the page.
        assert re.findall(r'<(?:link|script)\b[^>]*(?:href|src)="(?!data:)([^"]+)"', head) == []
        assert re.findall('rel="modulepreload" href="([^"]+)"', loads) == [f"{root}app.js"]


class Inside(HTMLParser):
    """The contents of a page besides its text: the first style element, scripts without an address, and metadata."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.texts: dict[str, str] = {}
        self.meta: dict[str, str] = {}
        self._element = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self._element = tag if tag == "style" or (tag == "script" and "src" not in values) else ""
        if tag == "meta":
            self.meta[values.get("name") or ""] = values.get("content") or ""

    def handle_endtag(self, _tag: str) -> None:
        self._element = ""

    def handle_data(self, data: str) -> None:
        if self._element:
            self.texts[self._element] = self.texts.get(self._element, "") + data


@pytest.mark.parametrize(("path", "root"), [("/ui/", ""), ("/ui/subjects/flights-value/compare", "../../")])
def test_a_page_contains_what_the_first_paint_needs(http: httpx.Client, path: str, root: str) -> None:
    answer = http.get(path)
    inside = Inside(answer.text)
    assert inside.texts["script"] == (FOLDER / "start.js").read_text()
    style = inside.texts["style"]
    assert f'src: url("{root}fonts/inter.woff2")' in style
    names = re.findall(r'rel="stylesheet" href="([^"]+)"', (FOLDER / "index.html").read_text())
    assert len(names) > 1
    for name in names:
        rules = re.sub(r"/\*.*?\*/\s*", "", (FOLDER / name).read_text(), flags=re.DOTALL)
        assert rules.replace("../../", root) in style, name
    assert 'rel="stylesheet"' not in answer.text
    # The policy allows these two texts and no others, also for a browser that has the page already.
    expected = POLICY
    for directive, text in (("script-src 'self'", inside.texts["script"]), ("style-src 'self'", style)):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        expected = expected.replace(directive, f"{directive} 'sha256-{digest}'")
    assert answer.headers["content-security-policy"] == expected
    assert answer.headers.get_list("content-security-policy") == [expected]
    again = http.get(path, headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.headers["content-security-policy"]) == (304, expected)
    assert json.loads(inside.meta["magicbyte-config"]) == http.get("/ui/config.json").json()


def test_a_configuration_is_no_markup() -> None:
    config = {"name": "\"><script>alert('1')</script>&amp;"}
    page = Files(config=json.dumps(config).encode()).page("").body.decode()
    assert "<script>alert" not in page
    assert json.loads(Inside(page).meta["magicbyte-config"]) == config


def test_a_style_sheet_that_would_end_the_element_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^a\.css contains '</'"):
        inline_style({"a.css": 'a::after { content: "</style>"; }'}, "")


def test_a_page_loads_what_its_row_names() -> None:
    loads = {
        "entry": "assets/app-1.js",
        "pages": [
            {"path": "", "view": "list", "modules": ["assets/app-1.js"], "styles": []},
            {
                "path": "/x/{name}",
                "view": "x",
                "modules": ["assets/app-1.js", "assets/x-2.js"],
                "styles": ["styles/views/x-3.css"],
            },
            {"path": "/x/new", "view": "new", "modules": ["assets/app-1.js"], "styles": []},
        ],
    }
    preloads = Preloads(json.dumps(loads).encode(), "registry/")
    entry = '<link rel="modulepreload" href="assets/app-1.js">'
    of_x = (entry, '<link rel="modulepreload" href="assets/x-2.js">')
    listing = '<link rel="preload" href="registry/overview?deleted=true&amp;head=50" as="fetch" crossorigin>'
    assert preloads.links("") == (listing, entry)
    assert preloads.links("contexts/.eu") == (listing, entry)
    assert preloads.links("x/1") == of_x
    assert preloads.links("contexts/.eu/x/1/") == of_x
    # The first row that fits, as the page does it.
    assert preloads.links("x/new") == of_x
    for path in ("x", "x/1/y", "nowhere"):
        assert preloads.links(path) == (entry,), path
        assert preloads.styles(path) == (), path
    # index.html contains them.
    assert preloads.styles("contexts/.eu/x/1/") == ("styles/views/x-3.css",)
    assert preloads.styles("") == ()


def test_a_checkout_names_the_module_that_imports_the_others() -> None:
    assert Preloads(None).links("subjects") == ('<link rel="modulepreload" href="app.js">',)


def test_the_built_page_has_hashed_files_and_brotli(tmp_path: Path) -> None:
    (tmp_path / "loads.json").write_text('{"entry": "a-0123456789abcdef.js", "pages": []}')
    (tmp_path / "index.html").write_text("")
    (tmp_path / "a-0123456789abcdef.js").write_text("1" * 99)
    (tmp_path / "a-0123456789abcdef.js.br").write_bytes(b"brotli of the build")
    (tmp_path / "small.js").write_text("2" * 99)
    files = Files(tmp_path)
    hashed, small = files.find("a-0123456789abcdef.js"), files.find("small.js")
    assert hashed is not None
    assert small is not None
    assert (hashed.brotli, hashed.is_hashed) == (b"brotli of the build", True)
    assert (small.brotli, small.is_hashed) == (None, False)
    for name in ("loads.json", "a-0123456789abcdef.js.br"):
        assert files.find(name) is None, name
