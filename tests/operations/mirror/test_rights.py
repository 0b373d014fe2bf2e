"""A mirror's user with access rules: the documented rights suffice, and with fewer nothing is taken for deleted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import orjson
import pytest

from magicbyte.kit.failure import Failure
from magicbyte.operations.mirror.following import Follower
from magicbyte.operations.mirror.mirroring import Mirroring, Options
from magicbyte.operations.mirror.origin import Origin
from magicbyte.operations.mirror.target import Target
from magicbyte.operations.sources.opening import Properties
from magicbyte.testing import running_registry
from tests.operations.mirror.conftest import SECONDS, Api, mirror, until
from tests.security.rights.rule_servers import properties_in

_PEOPLE = ("admin", "mirror", "half", "few")
_RULES = """\
allow User:mirror READ,DESCRIBE_CONFIGS SUBJECT LITERAL *
allow User:mirror DESCRIBE,DESCRIBE_CONFIGS REGISTRY LITERAL *
allow User:half READ,DESCRIBE_CONFIGS SUBJECT LITERAL *
allow User:half DESCRIBE REGISTRY LITERAL *
allow User:few READ,DESCRIBE_CONFIGS SUBJECT PREFIXED few
"""


@pytest.fixture(scope="module")
def ends(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Api]]:
    """The address of a source to which people sign in, with a global config, and a target."""
    folder: Path = tmp_path_factory.mktemp("rules")
    properties = properties_in(folder, people=_PEOPLE, rules=_RULES)
    with running_registry(properties=properties) as source, running_registry("memory:") as target:
        address = source.url.removeprefix("http://")
        admin = Api(_url(address, "admin"))
        admin.register("few", '"int"')
        admin("PUT", "/config", {"compatibility": "FULL"})
        admin("PUT", "/mode", {"mode": "READONLY"})
        admin("PUT", "/mode", {"mode": "READWRITE"})
        yield address, Api(target.url)


def _url(address: str, who: str) -> str:
    return f"http://{who}:mbs_{who}@{address}"


def test_the_documented_rights_keep_the_global_settings(ends: tuple[str, Api]) -> None:
    address, target = ends
    with mirror(_url(address, "mirror"), target.url) as running:
        running.until_told("is what")
        for number in range(2):
            Api(_url(address, "admin")).register(f"few-{number}", '"long"')
            until(lambda number=number: (f"few-{number}", 1) in target.state().versions, "the change arrives")  # type: ignore[misc]
            config = target.state().configs.get(None)
            assert config is not None
            assert config.to_json() == {"compatibilityLevel": "FULL"}
        assert not running.failed
        assert running.mirroring.mark.modes == {":.:": "READWRITE"}


@pytest.mark.parametrize("who", ["half", "few"])
def test_with_fewer_rights_the_mirror_ends_and_writes_nothing(ends: tuple[str, Api], who: str) -> None:
    address, target = ends
    before = target.state().configs
    told: list[str] = []
    with Origin(_url(address, who), Properties()) as origin, Target(target.url, {}) as end:
        mirroring = Mirroring(origin, end, Options(adopt=True), told.append)
        with pytest.raises(Failure, match="DESCRIBE_CONFIGS of the REGISTRY"):
            Follower(origin, mirroring, told.append).run_once()
    assert target.state().configs == before


@pytest.mark.parametrize(
    ("who", "names", "subjects", "kinds"),
    [
        ("mirror", ["few", ":.:"], {"few"}, {"manifest", "context", "schema", "config", "mode", "end"}),
        ("mirror", [":.:"], set(), {"manifest", "context", "config", "mode", "end"}),
        ("half", [":.:"], set(), {"manifest", "end"}),
        ("few", ["other", ":.:"], set(), {"manifest", "end"}),
        ("few", ["few"], {"few"}, {"manifest", "schema", "end"}),
    ],
)
def test_an_export_of_names_has_the_visible_subjects(
    ends: tuple[str, Api], who: str, names: list[str], subjects: set[str], kinds: set[str]
) -> None:
    answer = httpx.get(f"{_url(ends[0], who)}/export", params={"subject": names}, timeout=SECONDS)
    lines = [orjson.loads(line) for line in answer.content.splitlines()]
    assert {line["subject"] for line in lines if "subject" in line} == subjects
    assert {line["kind"] for line in lines} == kinds
