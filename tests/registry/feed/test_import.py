"""Imports: whole or not at all, in batches that can be sent again, with the same limits by every path."""

from __future__ import annotations

import hashlib
import json
import re
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from magicbyte.testing.servers import running_registry
from registry.access.rights import Rights
from registry.feed.export import export_lines
from registry.http import spooled_body
from registry.log.port import BEGINNING, LogEntry, LogError, Offset, Record
from registry.state.view import View

NDJSON = {"Content-Type": "application/x-ndjson"}


def line(subject: str, version: int, schema_id: int, text: str = '"int"', **more: Any) -> bytes:
    return (
        json.dumps({"subject": subject, "version": version, "id": schema_id, "schema": text, **more}).encode() + b"\n"
    )


def closed(lines: Sequence[bytes], /, **other: Any) -> bytes:
    """Lines and their closing line."""
    end = {"kind": "end", "lines": len(lines), "sha256": hashlib.sha256(b"".join(lines)).hexdigest(), **other}
    return b"".join(lines) + json.dumps(end).encode() + b"\n"


def post(api: Any, content: bytes, path: str = "/import") -> httpx.Response:
    answered: httpx.Response = api.client.post(path, content=content, headers=NDJSON)
    return answered


def titles(count: int) -> list[bytes]:
    """Lines of so many schemas, each under a subject and an id of its own."""
    return [
        line(f"s{number}", 1, number, f'{{"title":"t{number}"}}', schemaType="JSON") for number in range(1, count + 1)
    ]


THREE = [line("s", 1, 1), line("s", 2, 2, '"long"'), line("t", 1, 3, '"string"')]


def test_an_export_that_was_cut_is_refused_wherever_it_was_cut(api: Any) -> None:
    api.register("s", '"int"')
    api.register("s", '"long"')
    api.register("t", '"string"')
    exported: bytes = api("GET", "/export").content
    lines = exported.splitlines(keepends=True)
    assert len(lines) == 6
    for cut in range(len(exported) - 1):
        refused = post(api, exported[:cut])
        assert (refused.status_code, refused.json()["error_code"]) == (400, 400), cut
    whole_lines = post(api, b"".join(lines[:3])).json()["message"]
    assert whole_lines == (
        "the closing line is missing: the export was cut after line 3. Export again, or send lines that were written "
        "by hand with ?lines=true"
    )
    # The end of the last line itself says nothing.
    assert post(api, exported[:-1]).json() == {"imported": {}, "known": 4, "refused": []}


DAMAGED = [
    (
        closed(THREE, lines=4),
        "the closing line counts 4 lines, but 3 came before it: the export is not whole",
    ),
    (
        closed(THREE, sha256="0" * 64),
        f"the SHA-256 of the lines is {hashlib.sha256(b''.join(THREE)).hexdigest()}, but the closing line says "
        f"{'0' * 64}: the export was changed. Send lines that were edited by hand with ?lines=true",
    ),
    (closed(THREE) + THREE[0], "line 5 comes after the closing line, which must be the last"),
    (closed([*THREE, b"{\n"]), "line 4 is not JSON: "),
    (closed([*THREE, b"[]\n"]), "line 4 is not an object"),
    (b"", "the closing line is missing: the export was cut after line 0. "),
]


@pytest.mark.parametrize(("content", "message"), DAMAGED, ids=[message[:40] for _, message in DAMAGED])
@pytest.mark.parametrize("query", ["", "?dryRun=true"])
def test_nothing_of_a_damaged_export_is_imported(api: Any, content: bytes, message: str, query: str) -> None:
    refused = post(api, content, f"/import{query}")
    assert (refused.status_code, refused.json()["error_code"]) == (400, 400)
    assert refused.json()["message"].startswith(message)
    assert api("GET", "/subjects").json() == []


def test_lines_that_were_written_by_hand_need_no_closing_line(api: Any) -> None:
    assert post(api, b"".join(THREE), "/import?lines=true").json() == {
        "imported": {"schema": 3},
        "known": 0,
        "refused": [],
    }
    edited = closed(THREE, lines=7, sha256="x") + b"\n \n"
    assert post(api, edited, "/import?lines=true").json() == {"imported": {}, "known": 3, "refused": []}


def test_an_import_that_failed_halfway_goes_on_where_it_stopped(api: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    append, taken = api.log.append, list[int]()

    def append_twice(records: Sequence[Record], after: Offset, _epoch: int) -> Offset:
        if len(taken) == 2:
            raise LogError("the disk is full")
        taken.append(len(records))
        return append(records, after)

    monkeypatch.setattr(api.log, "append", append_twice)
    content = closed(titles(500))
    failed = post(api, content)
    assert (failed.status_code, failed.json()) == (
        500,
        {"error_code": 50001, "message": "Import operation failed while writing to the store", "importedLines": 400},
    )
    assert len(api("GET", "/subjects").json()) == 400
    taken.clear()
    assert post(api, content).json() == {"imported": {"schema": 100}, "known": 400, "refused": []}
    assert api("GET", "/schemas/ids/500").json()["schema"] == '{"title":"t500"}'


def test_each_batch_of_a_dry_run_sees_the_effects_of_earlier_batches(api: Any) -> None:
    many = titles(300)
    again = line("other", 1, 7, '{"title":"other"}', schemaType="JSON")
    tried = post(api, closed([*many, again]), "/import?dryRun=true").json()
    refused = [{"line": 301, "message": "Overwrite new schema with id 7 in context  is not permitted."}]
    assert tried == {"imported": {"schema": 300}, "known": 0, "refused": refused}
    assert api("GET", "/subjects").json() == []
    assert post(api, closed([*many, again])).json() == tried


PATHS = ["/import", "/import/", "/contexts/.c/import", "/contexts/c/import/"]


@pytest.mark.parametrize("path", PATHS)
def test_an_import_has_limits_of_its_own_by_every_path(make_api: Callable[..., Any], path: str) -> None:
    api = make_api(
        **{
            "size.limit.filter.max.request.body.size": "1000",
            "magicbyte.import.max.bytes": "100000",
            "request.timeout.ms": "1",
        }
    )
    # Without a guid each text is parsed, which takes longer than a millisecond.
    many = titles(500)
    assert post(api, closed(many), path).json() == {"imported": {"schema": 500}, "known": 0, "refused": []}
    too_large = post(api, closed([line("s", 1, 1, "x" * 100_000)]), path)
    assert (too_large.status_code, too_large.json()["error_code"]) == (413, 413)
    # What only begins like such a path is nothing of the kind.
    assert post(api, b"x" * 2000, f"{path.rstrip('/')}ed").status_code == 413


@pytest.mark.parametrize("path", ["/export", "/export/", "/contexts/.c/export", "/contexts/c/export/"])
def test_an_export_takes_as_long_as_it_takes_by_every_path(make_api: Callable[..., Any], path: str) -> None:
    api = make_api(**{"request.timeout.ms": "1"})
    text = "x" * 1000
    many = [
        line(f":.c:s{number}", 1, number, f'{{"title":"{number}{text}"}}', schemaType="JSON")
        for number in range(1, 1001)
    ]
    post(api, closed(many))
    exported = api("GET", path).content.splitlines()
    # The manifest, the context, the versions and the closing line.
    assert len(exported) == 1003
    assert json.loads(exported[-1])["lines"] == 1002


def test_an_import_into_a_context_places_lines_there_unless_they_name_another(api: Any) -> None:
    lines = [
        line("s", 1, 1),
        line(":.d:s", 1, 2, '"long"'),
        line(":.:s", 1, 3, '"string"'),
        b'{"kind":"config","config":{"compatibilityLevel":"FULL"}}\n',
        b'{"kind":"mode","subject":"s","mode":"READONLY"}\n',
    ]
    imported = post(api, closed(lines), "/contexts/.c/import").json()
    assert imported == {"imported": {"schema": 3, "config": 1, "mode": 1}, "known": 0, "refused": []}
    assert api("GET", "/subjects?subjectPrefix=:*:").json() == [":.c:s", ":.d:s", "s"]
    assert api("GET", "/config/:.c:").json() == {"compatibilityLevel": "FULL"}
    assert api("GET", "/config").json() == {"compatibilityLevel": "BACKWARD"}
    assert api("GET", "/mode/:.c:s").json() == {"mode": "READONLY"}


def test_an_export_puts_a_reference_to_the_default_context_after_its_target(api: Any) -> None:
    target = line("base", 1, 9, '{"type":"enum","name":"E","symbols":["A"]}')
    reference = [{"name": "E", "subject": ":.:base", "version": 1}]
    text = '{"type":"record","name":"U","fields":[{"name":"e","type":"E"}]}'
    imported = post(api, closed([target, line("user", 1, 5, text, references=reference)])).json()
    assert imported == {"imported": {"schema": 2}, "known": 0, "refused": []}
    exported = [json.loads(line) for line in api("GET", "/export").content.splitlines()]
    assert [record["subject"] for record in exported if record["kind"] == "schema"] == ["base", "user"]


def test_the_registry_reads_and_deletes_a_foreign_subject_with_the_default_context_in_its_name(api: Any) -> None:
    key = b'{"keytype":"SCHEMA","subject":":.:plain","version":1,"magic":1}'
    value = b'{"subject":":.:plain","version":1,"id":1,"schema":"\\"int\\"","deleted":false}'
    api.log.append([Record(key, value, 0)], api.log.end())
    assert api.register("plain", '"long"').json()["id"] == 2
    assert api("GET", "/subjects").json() == [":.:plain", "plain"]
    assert api("GET", "/subjects/:.:plain/versions").json() == [1]
    assert api("GET", "/subjects/:.:plain/versions/1").json()["id"] == 1
    assert api("GET", "/subjects/plain/versions/1").json()["id"] == 2
    assert api("DELETE", "/subjects/:.:plain").json() == [1]
    assert api("DELETE", "/subjects/:.:plain?permanent=true").json() == [1]
    assert api("GET", "/subjects?deleted=true").json() == ["plain"]
    # Now it is another name of the same subject, as ever.
    assert api("GET", "/subjects/:.:plain/versions/1").json()["id"] == 2


def test_an_alias_that_names_the_default_context_is_the_subject_itself(api: Any) -> None:
    api("PUT", "/config/short", {"alias": ":.:long"})
    api.register("short", '"int"')
    assert api("GET", "/subjects").json() == ["long"]
    assert api("GET", "/subjects/short/versions/1").json()["subject"] == "long"


def test_an_import_that_has_no_room_in_the_temporary_folder_says_so(api: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # Writes to it fail as they do on a full disk.
    monkeypatch.setattr(spooled_body.tempfile, "TemporaryFile", lambda: Path("/dev/full").open("r+b"))  # noqa: SIM115
    monkeypatch.setattr(spooled_body.tempfile, "gettempdir", lambda: "/tmp")
    failed = post(api, closed(THREE))
    assert (failed.status_code, failed.json()) == (
        500,
        {"error_code": 50001, "message": "The body can't be kept in /tmp: No space left on device"},
    )


def test_a_line_that_is_too_long_is_refused(api: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spooled_body, "_LONGEST_LINE", 1000)
    fits = line("s", 1, 1, json.dumps("x" * 100))
    refused = post(api, closed([fits, line("s", 1, 1, "x" * 1000)]))
    assert (refused.status_code, refused.json()) == (
        400,
        {"error_code": 400, "message": "line 2 is longer than 1000 bytes"},
    )


def peak_memory(pid: int | None) -> int:
    (kilobytes,) = re.findall(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(kilobytes) * 1024


def test_a_large_import_takes_little_memory_and_delays_no_request() -> None:
    """The body is in a file, and so are its lines but for those of a batch; other threads write and check it."""
    padding = "x" * 100_000
    lines = [
        json.dumps({"kind": "manifest", "padding": padding, "number": number}).encode() + b"\n"
        for number in range(1000)
    ]
    content = closed(lines)
    assert len(content) > 100_000_000
    sent = threading.Event()

    def pieces() -> Iterator[bytes]:
        for start in range(0, len(content), 1 << 20):
            yield content[start : start + (1 << 20)]
        sent.set()

    with (
        running_registry() as server,
        httpx.Client(base_url=server.url, timeout=120) as client,
        ThreadPoolExecutor(1) as threads,
    ):
        client.get("/subjects")
        before = peak_memory(server.pid)
        importing = threads.submit(httpx.post, f"{server.url}/import", content=pieces(), headers=NDJSON, timeout=120)
        assert sent.wait(120)
        answered_meanwhile = 0
        while not importing.done():
            assert client.get("/health/live").status_code == 200
            answered_meanwhile += 1
        assert importing.result().json() == {"imported": {}, "known": 0, "refused": []}
        assert answered_meanwhile > 2
        assert peak_memory(server.pid) - before < 60_000_000


@pytest.mark.slow
def test_an_import_through_a_node_that_follows_is_the_leaders(kafka: str) -> None:
    properties = {"kafkastore.topic": f"_schemas-{uuid.uuid4()}", "schema.registry.group.id": str(uuid.uuid4())}
    many = titles(500)
    with (
        running_registry("kafka:", bootstrap_servers=kafka, properties=properties) as first,
        running_registry("kafka:", bootstrap_servers=kafka, properties=properties) as second,
    ):
        httpx.put(f"{first.url}/config", json={"compatibility": "NONE"}, timeout=30)
        (follower,) = [
            node for node in (first, second) if not httpx.get(f"{node.url}/health/ready", timeout=30).json()["leader"]
        ]
        answered = httpx.post(f"{follower.url}/import", content=closed(many), headers=NDJSON, timeout=60)
        assert answered.json() == {"imported": {"schema": 500}, "known": 0, "refused": []}
        assert httpx.get(f"{follower.url}/schemas/ids/500", timeout=30).json()["schema"] == '{"title":"t500"}'
        tried = httpx.post(f"{follower.url}/import?dryRun=true", content=closed(many), headers=NDJSON, timeout=60)
        assert tried.json() == {"imported": {}, "known": 500, "refused": []}


def text(name: str) -> str:
    return json.dumps({"type": "record", "name": name, "fields": []})


def delete_for_good(api: Any, subject: str) -> None:
    for query in ("", "?permanent=true"):
        assert api("DELETE", f"/subjects/{subject}{query}").status_code == 200


def test_a_copy_never_gives_an_id_again(make_api: Callable[..., Any]) -> None:
    original, copy = make_api(), make_api()
    for number in (1, 2, 3):
        assert original.register(f"s{number}", text(f"S{number}")).json()["id"] == number
    for number in (1, 2):
        assert original.register(f":.named:s{number}", text(f"N{number}")).json()["id"] == number
    for context in (".empty", ".gone"):
        for number in (1, 2, 3, 4):
            assert original.register(f":{context}:s{number}", text(f"E{number}")).json()["id"] == number
            delete_for_good(original, f":{context}:s{number}")
    delete_for_good(original, "s3")
    delete_for_good(original, ":.named:s2")
    assert original("DELETE", "/contexts/.gone").status_code == 204
    exported = original("GET", "/export").content
    assert exported.splitlines()[1:5] == [
        b'{"kind":"context","context":".","listed":true,"maxId":3}',
        b'{"kind":"context","context":".empty","listed":true,"maxId":4}',
        b'{"kind":"context","context":".gone","listed":false,"maxId":4}',
        b'{"kind":"context","context":".named","listed":true,"maxId":2}',
    ]
    assert post(copy, exported).json() == {"imported": {"context": 4, "schema": 3}, "known": 0, "refused": []}
    assert post(copy, exported).json() == {"imported": {}, "known": 7, "refused": []}
    assert copy("GET", "/contexts").json() == original("GET", "/contexts").json() == [".", ".empty", ".named"]
    new_ids = {}
    for context in (".", ".empty", ".gone", ".named"):
        new_ids[context] = copy.register(f":{context}:new", text("New")).json()["id"]
        assert original.register(f":{context}:new", text("New")).json()["id"] == new_ids[context]
    assert new_ids == {".": 4, ".empty": 5, ".gone": 5, ".named": 3}
    # A copy of the copy goes on from there.
    third = make_api()
    delete_for_good(copy, "new")
    post(third, copy("GET", "/export?deleted=false").content)
    assert third.register("newer", text("Newer")).json()["id"] == 5


def test_new_contexts_begin_above_the_mark_of_the_global_context(make_api: Callable[..., Any]) -> None:
    original, copy = make_api(), make_api()
    original.register("s", text("S"))
    mark = b'{"kind":"context","context":".__GLOBAL","listed":false,"maxId":9}\n'
    assert post(original, closed([mark])).json() == {"imported": {"context": 1}, "known": 0, "refused": []}
    post(copy, original("GET", "/export").content)
    for api in (original, copy):
        ids = [api.register(subject, text("T")).json()["id"] for subject in ("t", ":.new:t")]
        assert ids == [2, 10]
        assert api.register(":.new:u", text("U")).json()["id"] == 11
        assert api("GET", "/contexts").json() == [".", ".new"]
    listed = closed([mark.replace(b"false", b"true")])
    assert post(original, listed).json()["refused"] == [{"line": 1, "message": "'.__GLOBAL' is not a context"}]


@pytest.mark.parametrize(
    ("path", "contexts"),
    [
        ("/export", [".", ".a", ".b"]),
        ("/export?subjectPrefix=:*:s", [".", ".a", ".b"]),
        ("/export?subjectPrefix=s", ["."]),
        ("/export?subjectPrefix=:.a:", [".a"]),
        ("/contexts/.a/export", [".a"]),
    ],
)
def test_an_export_has_the_contexts_that_its_prefix_covers(api: Any, path: str, contexts: list[str]) -> None:
    for subject in ("s", ":.a:s", ":.b:s"):
        api.register(subject, '"int"')
    lines = [json.loads(line) for line in api("GET", path).content.splitlines()]
    assert [line["context"] for line in lines if line["kind"] == "context"] == contexts


def test_the_mark_of_the_default_context_goes_where_its_subjects_go(api: Any) -> None:
    lines = [
        b'{"kind":"context","context":".","listed":true,"maxId":7}\n',
        b'{"kind":"context","context":".own","listed":true,"maxId":9}\n',
        line("s", 1, 5),
    ]
    answer = post(api, closed(lines), "/contexts/.into/import").json()
    assert answer == {"imported": {"context": 2, "schema": 1}, "known": 0, "refused": []}
    ids = [api.register(subject, '"long"').json()["id"] for subject in ("s", ":.into:t", ":.own:t")]
    assert ids == [1, 8, 10]


BAD_CONTEXTS = [
    ({"context": "a", "maxId": 1}, "'a' is not a context"),
    ({"context": 1, "maxId": 1}, "1 is not a context"),
    ({"maxId": 1}, "None is not a context"),
    ({"context": ".__GLOBAL", "maxId": 1}, "'.__GLOBAL' is not a context"),
    ({"context": ".a:b", "maxId": 1}, "'.a:b' is not a context"),
    ({"context": ".a"}, "a context needs a maxId from 0 to 2147483647, not None"),
    ({"context": ".a", "maxId": -1}, "a context needs a maxId from 0 to 2147483647, not -1"),
    ({"context": ".a", "maxId": 2**31}, "a context needs a maxId from 0 to 2147483647, not 2147483648"),
    ({"context": ".a", "maxId": True}, "a context needs a maxId from 0 to 2147483647, not True"),
]


@pytest.mark.parametrize(("fields", "message"), BAD_CONTEXTS)
def test_a_malformed_context_is_refused_by_name(api: Any, fields: dict[str, Any], message: str) -> None:
    answer = post(api, closed([json.dumps({"kind": "context", "listed": True, **fields}).encode() + b"\n"]))
    assert answer.json() == {"imported": {}, "known": 0, "refused": [{"line": 1, "message": message}]}


class SomeRights(Rights):
    """The rights to some operations."""

    def __init__(self, *allowed: tuple[str, str | None]) -> None:
        self._allowed = allowed

    def may(self, operation: str, subject: str | None) -> bool:
        return (operation, subject) in self._allowed


@pytest.mark.parametrize(
    ("allowed", "visible"),
    [
        ([], []),
        # The page of `app`, the first user of `magicbyte up --secure`, may see the settings of the registry.
        ([("DESCRIBE_CONFIGS", None)], []),
        ([("DESCRIBE", None)], []),
        ([("DESCRIBE_CONFIGS", None), ("DESCRIBE", None)], ["."]),
        ([("DESCRIBE_CONFIGS", ":.a:")], [".a"]),
    ],
)
def test_the_highest_id_of_the_default_context_takes_the_right_to_describe_the_registry(
    allowed: list[tuple[str, str | None]], visible: list[str]
) -> None:
    assert list(filter(SomeRights(*allowed).may_see_highest_id, [".", ".a", ".b"])) == visible


def test_an_import_accepts_an_export_without_context_lines_and_warns(make_api: Callable[..., Any], api: Any) -> None:
    original = make_api()
    original.register("s", '"int"')
    original.register(":.a:s", '"int"')
    view = original.client.app.state.registry.node.view
    for visible, lacks in (([".", ".a"], False), ([".a"], True), ([], True)):
        exported = b"".join(export_lines(view, ":*:", may_see_highest_id=visible.__contains__))
        manifest, *others = [json.loads(line) for line in exported.splitlines()]
        assert manifest.get("lacksContexts", False) is lacks
        assert [line["context"] for line in others if line["kind"] == "context"] == visible
        warnings = post(api, exported).json().get("warnings", [])
        assert [text[:55] for text in warnings] == (
            ["this export was made without the right to see the setti"] if lacks else []
        )
    manifest = json.loads(next(export_lines(view, ":.a:", may_see_highest_id=[".a"].__contains__)))
    assert "lacksContexts" not in manifest


@pytest.mark.parametrize(
    ("fields", "warnings"),
    [
        ({}, []),
        ({"partial": True}, ["this export is a part: "]),
        ({"lacksSettings": True}, ["this export is a part: "]),
        ({"partial": True, "lacksContexts": True}, ["this export is a part: ", "this export was made wi"]),
    ],
)
def test_an_import_warns_of_an_export_of_a_part(fields: dict[str, bool], warnings: list[str], api: Any) -> None:
    line = json.dumps({"kind": "manifest", "format": 2, **fields}).encode()
    answer = api.client.post("/import?lines=true", content=line + b"\n").json()
    assert [text[:23] for text in answer.get("warnings", [])] == warnings


def test_all_lines_of_an_export_are_of_the_moment_of_the_first(make_api: Callable[..., Any]) -> None:
    registry = make_api()
    registry.register("s", '"int"')
    lines = export_lines(registry.client.app.state.registry.node.view)
    manifest = json.loads(next(lines))
    registry.register("s", '"long"')
    registry.register(":.a:t", '"int"')
    registry("PUT", "/config/s", {"compatibility": "NONE"})
    registry("PUT", "/mode/s", {"mode": "READONLY"})
    registry("PUT", "/config", {"compatibility": "FULL"})
    assert [(line["kind"], line.get("maxId"), line.get("version")) for line in map(json.loads, lines)] == [
        ("context", 1, None),
        ("schema", None, 1),
        ("end", None, None),
    ]
    assert manifest["offset"] == 0


def test_a_view_that_is_held_still_takes_no_entry() -> None:
    view = View()
    entry = LogEntry(0, b'{"keytype":"NOOP","magic":0}', None, 0)
    applying = threading.Thread(target=view.apply, args=(entry,))
    with view.still:
        applying.start()
        applying.join(0.1)
        assert (applying.is_alive(), view.offset) == (True, BEGINNING)
    applying.join()
    assert view.offset == 0


def test_a_mark_is_not_raised_in_a_context_that_is_read_only(api: Any) -> None:
    api("PUT", "/mode/:.a:", {"mode": "READONLY"})
    answer = post(api, closed([b'{"kind":"context","context":".a","listed":true,"maxId":7}\n'])).json()
    assert (answer["imported"], [line["line"] for line in answer["refused"]]) == ({}, [1])
