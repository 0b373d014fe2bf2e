"""The tools of the documentation site: links, sections, pages of the HTTP APIs, versions."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from tests.docs.blocks import ROOT, pages
from tools.docs.external_loads import external_loads
from tools.docs.links import Links
from tools.docs.llms import write_llms
from tools.docs.openapi_pages import openapi_page
from tools.docs.python_pages import PACKAGES, undocumented
from tools.docs.schema_words import schema_words
from tools.docs.sections import SECTIONS, by_section
from tools.docs.versions import publish, sorted_versions

LINKS = Links(ROOT, {"docs/a.md": "a.md", "docs/b/c.md": "b/c.md", "DESIGN.md": "design.md"}, "https://r", "v1")


@pytest.mark.parametrize(
    ("document", "text", "result"),
    [
        ("docs/a.md", "[x](b/c.md#y)", "[x](b/c.md#y)"),
        ("docs/a.md", "[x](../DESIGN.md#y)", "[x](design.md#y)"),
        ("docs/b/c.md", "[x](../../DESIGN.md)", "[x](../design.md)"),
        ("docs/b/c.md", "[x](../a.md)", "[x](../a.md)"),
        ("DESIGN.md", "[x](docs/b/c.md)", "[x](b/c.md)"),
        ("docs/a.md", "[x](../Makefile)", "[x](https://r/blob/v1/Makefile)"),
        ("docs/a.md", "[x](../tests/docs#l)", "[x](https://r/tree/v1/tests/docs#l)"),
        ("docs/a.md", "[x](#here) [y](https://z) <https://z>", "[x](#here) [y](https://z) <https://z>"),
        ("docs/a.md", "![p](page/x.png)", "![p](page/x.png)"),
        ("docs/a.md", "`[x](../Makefile)`", "`[x](../Makefile)`"),
        ("docs/a.md", "```md\n[x](../Makefile)\n```\n", "```md\n[x](../Makefile)\n```\n"),
        ("docs/a.md", "a <!-- b\nc --> d", "a \n d"),
        ("docs/a.md", "`<!-- b -->`", "`<!-- b -->`"),
        ("docs/a.md", "`` ` `` [x](../Makefile)", "`` ` `` [x](https://r/blob/v1/Makefile)"),
    ],
)
def test_links_lead_to_pages_or_to_the_repository_at_the_tag(document: str, text: str, result: str):
    assert LINKS.rewrite(text, document) == result


@pytest.mark.parametrize(
    ("page", "section"),
    [
        ("quickstart", "Start here"),
        ("tutorial-evolution", "Tutorials"),
        ("spark", "How-to guides"),
        ("security", "Operate"),
        ("security-clients", "How-to guides"),
        ("config-registry", "Reference"),
        ("commands/check", "Reference"),
        ("a-page-nobody-has-thought-of", "Operate"),
        ("explain-concepts", "Explanation"),
        ("changelog", "Project"),
    ],
)
def test_every_page_has_a_section(page: str, section: str):
    assert [title for title, found in by_section([page]).items() if found] == [section]


def test_a_section_has_its_pages_in_the_order_of_the_table():
    found = by_section(["rest-proxy", "api/ui", "zzz", "alerts", "api/registry", "deploy", "registry-api"])
    assert found["Reference"] == ["api/registry", "api/ui", "registry-api", "rest-proxy"]
    assert found["Operate"] == ["deploy", "alerts", "zzz"]
    assert [section.title for section in SECTIONS] == list(found)


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "string"}, "string"),
        (
            {"type": "integer", "format": "int32", "minimum": 1, "default": 5},
            "integer (int32), at least 1, default `5`",
        ),
        ({"type": "array", "items": {"$ref": "#/components/schemas/A"}}, "array of [A](#api-x-a)"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "string or null"),
        ({"enum": ["a|b", 1]}, '`"a\\|b"` or `1`'),
        ({"const": True}, "`true`"),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, "object with values: integer"),
        ({"type": ["string", "null"]}, "string or null"),
        ({}, "any value"),
    ],
)
def test_the_site_describes_schemas_in_words(schema: dict[str, Any], words: str):
    assert schema_words(schema, "x") == words


@pytest.mark.parametrize("name", ["registry", "rest-proxy-v2", "rest-proxy-v3", "ui"])
def test_the_page_of_an_api_has_each_operation_parameter_and_object(name: str):
    document = yaml.safe_load((ROOT / "openapi" / f"{name}.yaml").read_text(encoding="utf-8"))
    page = openapi_page(document, name)
    operations = [
        f"### `{method.upper()} {path}`\n"
        for path, item in document["paths"].items()
        for method in item
        if method in ("get", "put", "post", "delete", "patch", "head", "options")
    ]
    assert len(operations) > 10
    assert [heading for heading in operations if page.count(heading) != 1] == []
    schemas = document["components"]["schemas"]
    assert [title for title in schemas if f"\n### {title}\n" not in page] == []
    assert (
        set(re.findall(r"\(#(api-[\w-]+)\)", page)) - set(re.findall(r"^\((api-[\w-]+)\)=$", page, re.MULTILINE))
        == set()
    )
    used = {parameter["name"] for parameter in document["components"]["parameters"].values()}
    assert [parameter for parameter in used if f"| `{parameter}` |" not in page] == []


@pytest.mark.parametrize("package", PACKAGES.values())
def test_public_names_have_docstrings(package: str):
    assert undocumented(package) == []


def test_the_build_finds_a_public_name_without_a_docstring(monkeypatch: pytest.MonkeyPatch):
    class Bare:
        def method(self) -> None: ...

    class Told:
        """Has words."""

        def method(self) -> None: ...

        def told(self) -> None:
            """Has words."""

    for function in (Bare.method, Told.method, Told.told):
        function.__module__ = "serdes.fake"
    fake = ModuleType("fake")
    vars(fake).update(__all__=["Bare", "Told", "bare"], Bare=Bare, Told=Told, bare=lambda: None)
    monkeypatch.setitem(sys.modules, "fake", fake)
    assert undocumented("fake") == ["fake.Bare", "fake.Bare.method", "fake.Told.method", "fake.bare"]


def test_versions_are_sorted_and_stable_is_the_newest_release(tmp_path: Path):
    assert sorted_versions(["0.9", "0.10.1", "0.10.0", "stable", "0.11.0rc1", "latest"]) == [
        "0.11.0rc1",
        "0.10.1",
        "0.10.0",
        "0.9",
    ]
    for name in ("0.9", "0.10.1", "0.11.0rc1"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "index.html").write_text(name)
    assert publish(tmp_path) == "0.10.1"
    assert (tmp_path / "stable" / "index.html").read_text() == "0.10.1"
    assert (tmp_path / "versions.js").read_text() == (
        'window.magicbyteVersions = {"stable": "0.10.1", "versions": ["0.11.0rc1", "0.10.1", "0.9"]};\n'
    )
    assert "url=stable/" in (tmp_path / "index.html").read_text()


def test_the_texts_for_machines_have_every_page(tmp_path: Path):
    (tmp_path / "a.md").write_text("# Title `x`\n\n<!-- mark -->\nWhat it [is](b.md). More.\n\n(anchor)=\n## Part\n")
    write_llms(tmp_path, tmp_path, {"Start": ["a"], "Empty": []})
    index = (tmp_path / "llms.txt").read_text()
    assert index.startswith("# Magicbyte\n\n> ")
    assert "## Start\n\n- [Title x](a.html): What it is.\n" in index
    assert "Empty" not in index
    full = (tmp_path / "llms-full.txt").read_text()
    assert "<!-- a.html -->\n# Title `x`\n\nWhat it [is](b.md). More.\n\n## Part" in full
    assert "mark" not in full
    assert "anchor" not in full


@pytest.mark.parametrize(
    ("kind", "text", "found"),
    [
        (".html", '<script src="https://cdn/x.js"></script>', ["https://cdn/x.js"]),
        (".html", '<script src="//cdn/x.js"></script>', ["//cdn/x.js"]),
        (".html", '<script src="_static/x.js"></script><a href="https://elsewhere">x</a>', []),
        (
            ".html",
            '<link rel="stylesheet" href="https://fonts/x.css"><link rel="canonical" href="https://here">',
            ["https://fonts/x.css"],
        ),
        (".html", '<img srcset="a.png 1x, https://cdn/b.png 2x">', ["https://cdn/b.png 2x"]),
        (".html", "<style>@font-face { src: url('https://fonts/x.woff2') }</style>", ["https://fonts/x.woff2"]),
        (".css", '@import "https://cdn/x.css"; a { background: url(data:image/png;base64,AA) }', ["https://cdn/x.css"]),
        (".js", 'fetch("https://x/y"); fetch("_static/z"); const home = "https://home";', ["https://x/y"]),
    ],
)
def test_the_build_finds_loads_from_foreign_servers(kind: str, text: str, found: list[str]):
    assert external_loads(text, kind) == found


def test_pages_have_one_title():
    for page in pages():
        text = re.sub(r"^```.*?^```$", "", (ROOT / page).read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
        assert text.startswith("# "), page
