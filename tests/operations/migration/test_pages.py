"""The commands of migrate-axonops.md, migrate-redpanda.md, migrate-apicurio.md and migrate-confluent-cloud.md run.

They run in order against a small server that answers as the origin does, and a registry of ours; so do those of
migrate-confluent.md and migrate-karapace.md, on a topic. The mirror runs once.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from magicbyte.cli.main import main
from magicbyte.testing import running_registry
from tests.docs.blocks import blocks
from tests.operations.migration.fake_origin import fake_origin, version
from tests.operations.migration.test_topic_origin import KARAPACE, made_topic

#: Page -> what its origin answers, and the path of its API.
BY_API = {
    "migrate-axonops.md": ("axonops", ""),
    "migrate-redpanda.md": ("redpanda", ""),
    "migrate-apicurio.md": ("apicurio", "/apis/ccompat/v7"),
    "migrate-confluent-cloud.md": ("confluent", ""),
}
_ELSEWHERE = frozenset({"registry", "ids"})


def commands(page: str, **names: str) -> Iterator[list[str]]:
    """The arguments of a page's commands of `magicbyte`, with names replaced."""
    for block in blocks(f"docs/{page}"):
        if block.elsewhere is None:
            continue
        for line in block.text.splitlines():
            for old, new in names.items():
                line = line.replace(old, new)  # noqa: PLW2901 - each name in turn
            words = shlex.split(line.rstrip("& "), comments=True)
            if words[:1] == ["magicbyte"] and words[1] not in _ELSEWHERE:
                yield words[1:]


@pytest.mark.slow
@pytest.mark.parametrize("page", BY_API)
def test_a_page_for_a_copy_by_the_api(page: str, kafka: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vendor, base = BY_API[page]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cloud.properties").write_text("basic.auth.credentials.source=USER_INFO\nbasic.auth.user.info=K:S\n")
    (tmp_path / "access.log").write_text('{"path": "/subjects", "user_agent": "x"}\n')
    topic = made_topic(kafka, [(b"k", b"\0\0\0\0\x01x")])
    with (
        fake_origin(vendor, [version("a", 1, 1, '"int"'), version("a", 2, 2, '"long"')], base=base) as origin,
        running_registry() as ours,
    ):
        names = {"$OLD": origin, "$CLOUD": origin, "$NEW": ours.url, "localhost:9092": kafka, "orders": topic}
        run = []
        for words in commands(page, **names):
            run.append(words[0])
            once = ["--once"] if words[0] == "mirror" else []
            assert main([*words, *once]) == 0, words
        new = httpx.post(f"{ours.url}/subjects/new/versions", json={"schema": '"double"'})
        assert (new.status_code, new.json()["id"]) == (200, 3)
    assert run == ["migrate", "backup", "restore", "mirror", "diff", "dr"]


@pytest.mark.slow
@pytest.mark.parametrize("page", ["migrate-confluent.md", "migrate-karapace.md"])
def test_a_page_for_a_takeover(page: str, kafka: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "schemas").mkdir()
    (tmp_path / "schemas" / "a.avsc").write_text('"int"')
    topic, records = made_topic(kafka, KARAPACE), made_topic(kafka, [(b"k", b"\0\0\0\0\x01x")])
    names = {"localhost:9092": kafka, "_schemas": topic, "orders,payments": records}
    before = [words for words in commands(page, **names) if words[0] != "diff"]
    with fake_origin("karapace", [version("a", 1, 1, '"int"')]) as origin:
        for words in before:
            code = main([origin if word == "http://localhost:8081" else word for word in words])
            # fsck warns of the single replica of the tests' broker.
            assert code == 0 or (words[0] == "migrate" and code == 100), words
    with running_registry("kafka:", bootstrap_servers=kafka, properties={"kafkastore.topic": topic}) as ours:
        (compared,) = [words for words in commands(page, **names) if words[0] == "diff"]
        words = [ours.url if word == "http://localhost:8081" else word for word in compared]
        assert main([*words, "--ignore", "marks"]) == 0
