"""The Dockerfiles and their locks; `make image-test` builds and runs the image."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tools.images import image_test
from tools.images.layout import Image
from tools.images.packages import missing
from tools.images.sbom import bill

IMAGES = Path(__file__).parents[2] / "deploy" / "images"
CORE = (IMAGES.parents[1] / "requirements.lock").read_text()


def _pins(text: str) -> dict[str, str]:
    return dict(re.findall(r"(?m)^([\w.-]+)==([^\s;\\]+)", text))


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-spark.lock"])
def test_an_image_has_the_versions_that_are_tested(name: str) -> None:
    text = (IMAGES / name).read_text()
    pins = _pins(text)
    assert {package: pins[package] for package in pins if _pins(CORE)[package] != pins[package]} == {}
    assert text.count("--hash=sha256:") >= len(pins)
    assert {"pyspark", "py4j", "pytest", "mypy", "ruff"} & set(pins) == set()
    assert {"confluent-kafka", "fastavro"} <= set(pins)


def test_the_image_of_the_servers_has_the_servers() -> None:
    assert {"uvicorn", "psycopg-binary", "aws-msk-iam-sasl-signer-python"} <= set(
        _pins((IMAGES / "requirements.lock").read_text())
    )


@pytest.mark.parametrize("name", ["magicbyte", "magicbyte-spark"])
def test_the_last_stage_runs_nothing_on_a_pinned_base(name: str) -> None:
    text = (IMAGES / f"{name}.Dockerfile").read_text()
    assert re.search(r"(?m)^ARG BASE=\S+:\S+@sha256:[0-9a-f]{64}$", text)
    last = text[text.rindex("\nFROM ${BASE}") :]
    assert not re.search(r"(?m)^(RUN|ADD) ", last)
    assert "\nUSER 65532:65532\n" in last
    assert "\nSTOPSIGNAL SIGTERM\n" in last
    for copied in re.findall(r"\b(?:deploy/images/[\w.-]+)", text):
        if not copied.endswith(".Dockerfile"):
            assert (IMAGES.parents[1] / copied).exists(), copied


def test_a_bill_lists_distributions_and_packages(tmp_path: Path) -> None:
    site = tmp_path / "venv/lib/python3.13/site-packages"
    for name, text in (
        ("A_b.c-1.0", "Name: A_b.c\nVersion: 1.0\nLicense-Expression: MIT OR Apache-2.0\n"),
        ("d-2", "Name: d\nVersion: 2\nLicense: BSD\n"),
        ("e-3", "Name: e\nVersion: 3\nLicense: the whole text of a license\n"),
    ):
        (site / f"{name}.dist-info").mkdir(parents=True)
        (site / f"{name}.dist-info/METADATA").write_text(f"Metadata-Version: 2.4\n{text}")
    (tmp_path / "var/lib/dpkg").mkdir(parents=True)
    (tmp_path / "var/lib/dpkg/status").write_text(
        "Package: libc6\nStatus: install ok installed\nArchitecture: amd64\nVersion: 2.36-9+deb12u10\n\n"
        "Package: gone\nStatus: deinstall ok config-files\nArchitecture: amd64\nVersion: 1\n"
    )
    made = bill(tmp_path, "magicbyte", "0.1.0")
    assert [(part["purl"], part.get("licenses")) for part in made["components"]] == [
        ("pkg:deb/debian/libc6@2.36-9%2Bdeb12u10?arch=amd64", None),
        ("pkg:pypi/a-b-c@1.0", [{"expression": "MIT OR Apache-2.0"}]),
        ("pkg:pypi/d@2", [{"license": {"name": "BSD"}}]),
        ("pkg:pypi/e@3", None),
    ]
    assert made == bill(tmp_path, "magicbyte", "0.1.0")
    assert made["serialNumber"] != bill(tmp_path, "magicbyte", "0.2.0")["serialNumber"]


def test_deleted_files_of_a_lower_layer_are_gone(tmp_path: Path) -> None:
    layers = []
    for number, names in enumerate((["a/x", "b/y"], ["a/.wh.x", ".wh.b", "c"])):
        folder = tmp_path / f"layer{number}"
        for name in names:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(name)
        layer = tmp_path / f"{number}.tar"
        assert os.system(f"tar -C {folder} -cf {layer} .") == 0
        layers.append(layer)
    Image({}, layers).unpack(tmp_path / "root")
    assert sorted(str(path.relative_to(tmp_path / "root")) for path in (tmp_path / "root").rglob("*")) == ["a", "c"]


@pytest.mark.parametrize(("base", "ours", "is_kept"), [(50, 60, True), (50, 66, False), (55, 61, False)])
def test_the_size_budget(base: int, ours: int, is_kept: bool, tmp_path: Path) -> None:
    for name, megabytes in (("base", base), ("ours", ours)):
        with (tmp_path / name).open("wb") as layer:
            layer.truncate(megabytes * 1_000_000)
    image = Image({}, [tmp_path / "base", tmp_path / "ours"])
    if is_kept:
        image_test.check_sizes(image)
    else:
        with pytest.raises(SystemExit, match="over the budget of 115 MB, or 65 MB of ours"):
            image_test.check_sizes(image)


@pytest.mark.parametrize(
    "line",
    ["ENV DB_PASSWORD=s3cret", "https://user:pass@index.example.com/simple", "ARG api_key = 5", "-----BEGIN KEY"],
)
def test_the_test_finds_a_secret_in_the_history(line: str) -> None:
    assert image_test._SECRETS.search(line)


def test_a_missing_requirement_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert missing() == "an image is built as root only: a root file system belongs to root"
    for ci, code in (("", 0), ("true", 1)):
        monkeypatch.setenv("CI", ci)
        assert image_test.main() == code
        assert capsys.readouterr().out == f"image-test: not run: {missing()}\n"
