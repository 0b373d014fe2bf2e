"""Comparing answers: only reads are sent, and each difference is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from magicbyte.cli.mirror.main import main
from magicbyte.kit.failure import Failure
from magicbyte.operations.mirror.requests import read_requests
from tests.operations.mirror.conftest import Api

_LOG = """\
{"event": "request", "method": "GET", "path": "/subjects"}
{"event": "request", "method": "GET", "path": "/subjects/a/versions/1?deleted=true"}
{"event": "request", "method": "DELETE", "path": "/subjects/a"}
{"event": "started"}
/subjects/b/versions
GET /schemas/ids/1

DELETE /subjects/b
/events
/subjects
"""


def test_the_command_takes_only_reads_from_a_log(tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    log.write_text(_LOG)
    paths, left_out = read_requests(log)
    assert paths == ["/subjects", "/subjects/a/versions/1?deleted=true", "/subjects/b/versions", "/schemas/ids/1"]
    assert left_out == 4


@pytest.mark.parametrize(
    ("text", "fault"), [("{", "access.log:1 is no JSON"), ("\nhello", "access.log:2: expected a line")]
)
def test_the_error_names_a_line_without_a_request(tmp_path: Path, text: str, fault: str) -> None:
    log = tmp_path / "access.log"
    log.write_text(text)
    with pytest.raises(Failure, match=fault):
        read_requests(log)


def test_the_command_finds_different_answers(
    registries: tuple[Api, Api], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, target = registries
    log = tmp_path / "access.log"
    log.write_text(_LOG)
    for end in registries:
        end.lines('{"subject":"a","version":1,"id":1,"schema":"\\"int\\"","ts":5}\n')
    call = ["--from", source.url, "--to", target.url, "--compare-requests", str(log)]
    assert main(call) == 0
    target.register("b", '"long"')
    assert main(call) == 100
    shown = capsys.readouterr().out
    assert "GET /subjects\n" in shown
    assert "GET /subjects/b/versions\n" in shown
    assert "GET /schemas/ids/1\n" not in shown
    assert set(source.state().versions) == {("a", 1)}, "nothing is written"
