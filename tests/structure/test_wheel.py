from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import cramjam
import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = {"compat", "magicbyte", "registry", "rest_proxy", "serdes", "spark_avro"}

PAGE = "magicbyte/ui/page/"


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    @cache
    def build(**environment: str) -> Path:
        folder = tmp_path_factory.mktemp("wheel")
        command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
        subprocess.run(command, cwd=ROOT, env=os.environ | environment, check=True)
        (wheel,) = folder.glob("*.whl")
        return wheel

    return build


@pytest.mark.slow
def test_the_wheel_holds_the_packages_and_nothing_else(build: Callable[..., Path]) -> None:
    with zipfile.ZipFile(build()) as archive:
        names = archive.namelist()
        of_page = {item.filename: item.compress_size for item in archive.infolist() if item.filename.startswith(PAGE)}
    top_level = {name.partition("/")[0] for name in names}
    assert {name for name in top_level if not name.endswith(".dist-info")} == PACKAGES
    assert "magicbyte/openapi/registry.yaml" in names
    assert "magicbyte/openapi/rest-proxy-v2.yaml" in names
    assert "magicbyte/openapi/rest-proxy-v3.yaml" in names
    assert "magicbyte/openapi/ui.yaml" in names
    for server in ("registry", "rest-proxy"):
        assert {f"magicbyte/systemd/magicbyte-{server}.service", f"magicbyte/systemd/{server}.properties"} <= set(names)
    assert f"{PAGE}vendor/LICENSES.txt" in of_page
    assert {name for name in names if name.startswith("tests/") or "node_modules" in name} == set()
    # The page's budget in the wheel.
    assert sum(of_page.values()) < 900_000
    assert "magicbyte/platform/jars/broker-4.3.1.lock" in names


@pytest.mark.skipif(shutil.which("npm") is None, reason="the page is built by Node")
def test_the_wheel_has_the_built_page(build: Callable[..., Path]) -> None:
    with zipfile.ZipFile(build()) as archive:
        names = [name.removeprefix(PAGE) for name in archive.namelist() if name.startswith(PAGE)]
        (app,) = [name for name in names if re.fullmatch(r"assets/app-[0-9a-f]{16}\.js", name)]
        body, loads = archive.read(PAGE + app), json.loads(archive.read(f"{PAGE}loads.json"))
        assert bytes(cramjam.brotli.decompress(archive.read(f"{PAGE}{app}.br"))) == body
    # Modules are in chunks; two scripts are not: index.html contains one, and a worker is the other.
    scripts = {name for name in names if name.endswith(".js") and not re.search(r"-[0-9a-f]{16}\.js$", name)}
    assert scripts == {"start.js", "assets/text_worker.js"}
    assert loads["entry"] == app
    pages = {page["path"]: page for page in loads["pages"]}
    # The first visit needs one module.
    assert pages["/subjects"] == {"path": "/subjects", "view": "list", "modules": [app], "styles": []}
    for page in loads["pages"]:
        assert {*page["modules"], *page["styles"]} <= set(names), page["path"]
    compare = pages["/subjects/{subject}/compare"]
    assert re.fullmatch(r"styles/views/compare-[0-9a-f]{16}\.css", *compare["styles"])
    assert not [name for name in compare["modules"] if "workbench" in name]
    # The budget of the first visit, in bytes by gzip.
    assert len(gzip.compress(body)) < 48_000


def test_a_wheel_built_without_node_has_the_unchanged_modules(build: Callable[..., Path]) -> None:
    with zipfile.ZipFile(build(MAGICBYTE_PAGE="modules")) as archive:
        names = {name for name in archive.namelist() if name.startswith(PAGE)}
    assert names == {str(path.relative_to(ROOT)) for path in (ROOT / PAGE).rglob("*") if path.is_file()}
