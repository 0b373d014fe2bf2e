from __future__ import annotations

from typing import Any

import pytest

from magicbyte import __version__

LEVEL_TEXT = (
    "Invalid compatibility level. Valid values are none, backward, forward, full, backward_transitive, "
    "forward_transitive, and full_transitive"
)
MODE_TEXT = "Invalid mode. Valid values are READWRITE, READONLY, IMPORT and FORWARD."


def error(code: int, message: str) -> dict[str, Any]:
    return {"error_code": code, "message": message}


def test_a_config_is_the_servers_until_somebody_sets_one(api: Any) -> None:
    assert api("GET", "/config").json() == {"compatibilityLevel": "BACKWARD"}
    message = "Subject 's' does not have subject-level compatibility configured"
    assert api("GET", "/config/s").json() == error(40408, message)
    assert api("GET", "/config/s?defaultToGlobal=true").json() == {"compatibilityLevel": "BACKWARD"}


def test_the_global_config_sees_the_global_context_only_by_default_to_global(api: Any) -> None:
    api("PUT", "/config/:.__GLOBAL:", {"compatibility": "FULL"})
    assert api("GET", "/config").json() == {"compatibilityLevel": "BACKWARD"}
    assert api("GET", "/config?defaultToGlobal=true").json() == {"compatibilityLevel": "FULL"}
    assert api("DELETE", "/config").json() == {"compatibilityLevel": "BACKWARD"}
    # subjects of every context fall back to it
    for subject in ("s", ":.c:s", ":.c:"):
        assert api("GET", f"/config/{subject}?defaultToGlobal=true").json() == {"compatibilityLevel": "FULL"}
    api("PUT", "/config", {"normalize": True})
    assert api("GET", "/config").json() == {"normalize": True, "compatibilityLevel": "BACKWARD"}


@pytest.mark.parametrize("context", [":.__GLOBAL", ":.__GLOBAL:"])
def test_the_last_colon_of_a_context_may_be_left_out(api: Any, context: str) -> None:
    answered = api("PUT", f"/mode/{context}", {"mode": "FORWARD"})
    assert (answered.status_code, answered.json()) == (200, {"mode": "FORWARD"})
    for path in ("/mode/:.__GLOBAL", "/mode/:.__GLOBAL:"):
        assert api("GET", path).json() == {"mode": "FORWARD"}
    assert api("GET", "/mode/s?defaultToGlobal=true").json() == {"mode": "FORWARD"}
    assert api("DELETE", "/mode/:.__GLOBAL").json() == {"mode": "FORWARD"}
    api("PUT", "/config/:.c", {"compatibility": "NONE"})
    assert api("GET", "/config/:.c:").json() == {"compatibilityLevel": "NONE"}
    assert api("GET", "/config/:.c:s?defaultToGlobal=true").json() == {"compatibilityLevel": "NONE"}
    refused = api.register(context, '"int"')
    assert (refused.status_code, refused.json()["error_code"]) == (422, 42208)


def test_put_and_get_name_the_level_differently(api: Any) -> None:
    assert api("PUT", "/config/s", {"compatibility": "full"}).json() == {"compatibility": "FULL"}
    assert api("GET", "/config/s").json() == {"compatibilityLevel": "FULL"}


def test_a_field_that_is_absent_stays_and_null_clears(api: Any) -> None:
    api("PUT", "/config/s", {"compatibility": "FULL", "normalize": True})
    assert api("PUT", "/config/s", {"alias": "t"}).json() == {
        "alias": "t",
        "normalize": True,
        "compatibility": "FULL",
    }
    assert api("PUT", "/config/s", {"alias": None, "compatibility": None}).json() == {"normalize": True}
    assert api("GET", "/config/s?defaultToGlobal=true").json() == {
        "normalize": True,
        "compatibilityLevel": "BACKWARD",
    }


def test_deleting_a_config_returns_the_old_config(api: Any) -> None:
    api("PUT", "/config/s", {"compatibility": "FULL"})
    assert api("DELETE", "/config/s").json() == {"compatibilityLevel": "FULL"}
    assert api("DELETE", "/config/s").json() == error(40401, "Subject 's' not found.")
    api("PUT", "/config", {"compatibility": "NONE"})
    assert api("DELETE", "/config").json() == {"compatibilityLevel": "NONE"}
    assert api("GET", "/config").json() == {"compatibilityLevel": "BACKWARD"}


@pytest.mark.parametrize(
    ("path", "body", "expected"),
    [
        ("/config", {"compatibility": "SOME"}, error(42203, LEVEL_TEXT)),
        ("/config/s", {"compatibility": 7}, error(42203, LEVEL_TEXT)),
        ("/config/s", {"normalize": "yes"}, error(400, "normalize must be a boolean, not a string")),
        ("/config/s", {"alias": 7}, error(400, "alias must be a string, not an integer")),
        ("/mode", {"mode": "ASLEEP"}, error(42204, MODE_TEXT)),
        ("/mode/s", {"mode": "FORWARD"}, error(42204, "Forward mode only supported on global level")),
    ],
)
def test_a_setting_that_is_refused(api: Any, path: str, body: Any, expected: Any) -> None:
    answered = api("PUT", path, body)
    status = expected["error_code"] if expected["error_code"] < 600 else expected["error_code"] // 100
    assert (answered.status_code, answered.json()) == (status, expected)


def test_an_alias_stands_for_another_subject(api: Any) -> None:
    api.register("real", '"int"')
    api("PUT", "/config/short", {"alias": "real"})
    assert api("GET", "/subjects/short/versions/1").json()["subject"] == "real"
    assert api.register("short", '"long"').json()["version"] == 2
    assert api("GET", "/subjects").json() == ["real"]


def test_a_compatibility_group_compares_within_itself(api: Any) -> None:
    api("PUT", "/config/s", {"compatibilityGroup": "major"})
    one = {"properties": {"major": "1"}}
    two = {"properties": {"major": "2"}}
    assert api.register("s", '"int"', metadata=one).status_code == 200
    assert api.register("s", '"string"', metadata=one).status_code == 409
    assert api.register("s", '"string"', metadata=two).status_code == 200


def test_the_registry_merges_defaults_and_overrides_into_a_registered_version(api: Any) -> None:
    api(
        "PUT",
        "/config/s",
        {
            "defaultMetadata": {"properties": {"owner": "nobody", "team": "core"}},
            "overrideMetadata": {"properties": {"team": "data"}},
        },
    )
    body = api.register("s", '"int"', metadata={"properties": {"owner": "me"}}).json()
    assert body["metadata"] == {"properties": {"owner": "me", "team": "data"}}
    found = api("POST", "/subjects/s", {"schema": '"int"', "metadata": {"properties": {"owner": "me"}}})
    assert found.json()["version"] == 1


def test_a_mode_is_read_set_and_removed(api: Any) -> None:
    assert api("GET", "/mode").json() == {"mode": "READWRITE"}
    message = "Subject 's' does not have subject-level mode configured"
    assert api("GET", "/mode/s").json() == error(40409, message)
    assert api("PUT", "/mode/s", {"mode": "readonly"}).json() == {"mode": "readonly"}
    assert api("GET", "/mode/s").json() == {"mode": "READONLY"}
    assert api("DELETE", "/mode/s").json() == {"mode": "READONLY"}
    assert api("DELETE", "/mode/s").json() == error(40401, "Subject 's' not found.")
    assert api("DELETE", "/mode").json() == error(40401, "Subject '' not found.")
    api("PUT", "/mode", {"mode": "READONLY"})
    assert api("PUT", "/mode", {"mode": None}).json() == {}
    assert api("GET", "/mode").json() == {"mode": "READWRITE"}


#: Settings to put, the path whose effective settings are asked, the level and its origin, and the mode and its origin.
ORIGINS: list[tuple[dict[str, tuple[str | None, str | None]], str, tuple[str, str], tuple[str, str]]] = [
    ({}, "/s", ("BACKWARD", "server"), ("READWRITE", "server")),
    ({}, "", ("BACKWARD", "server"), ("READWRITE", "server")),
    ({"": ("FULL", "READONLY")}, "", ("FULL", "global"), ("READONLY", "global")),
    ({"": ("FULL", "READONLY")}, "/s", ("FULL", "global"), ("READONLY", "global")),
    ({"": ("FULL", None), "/s": ("NONE", "IMPORT")}, "/s", ("NONE", "subject"), ("IMPORT", "subject")),
    ({"/:.eu:": ("FULL", "READONLY")}, "/:.eu:s", ("FULL", "context"), ("READONLY", "context")),
    ({"/:.eu:": ("FULL", "READONLY")}, "/:.eu:", ("FULL", "context"), ("READONLY", "context")),
    ({"/:.eu:": ("FULL", "READONLY")}, "/s", ("BACKWARD", "server"), ("READWRITE", "server")),
    ({"/:.__GLOBAL:": ("FULL", "READONLY")}, "/:.eu:s", ("FULL", "global"), ("READONLY", "global")),
    (
        {"": (None, "READONLY_OVERRIDE"), "/s": (None, "READWRITE")},
        "/s",
        ("BACKWARD", "server"),
        ("READONLY_OVERRIDE", "global"),
    ),
]


@pytest.mark.parametrize(("put", "path", "level", "mode"), ORIGINS, ids=range(len(ORIGINS)))
def test_a_setting_tells_where_it_is_set(
    api: Any,
    put: dict[str, tuple[str | None, str | None]],
    path: str,
    level: tuple[str, str],
    mode: tuple[str, str],
) -> None:
    for of, (put_level, put_mode) in put.items():
        if put_level is not None:
            assert api("PUT", f"/config{of}", {"compatibility": put_level}).status_code == 200
        if put_mode is not None:
            assert api("PUT", f"/mode{of}?force=true", {"mode": put_mode}).status_code == 200
    query = "?defaultToGlobal=true&origin=true"
    assert api("GET", f"/config{path}{query}").json() == {"compatibilityLevel": level[0], "origin": level[1]}
    assert api("GET", f"/mode{path}{query}").json() == {"mode": mode[0], "origin": mode[1]}
    assert "origin" not in api("GET", f"/mode{path}?defaultToGlobal=true").json()
    assert "origin" not in api("GET", f"/config{path}?defaultToGlobal=true").json()


def test_a_config_without_a_level_leaves_it_to_the_server(api: Any) -> None:
    api("PUT", "/config", {"compatibility": "FULL"})
    api("PUT", "/config/s", {"normalize": True})
    effective = {"normalize": True, "compatibilityLevel": "BACKWARD", "origin": "server"}
    assert api("GET", "/config/s?defaultToGlobal=true&origin=true").json() == effective
    assert api("GET", "/config/s?origin=true").json() == {"normalize": True, "origin": "subject"}
    assert api("GET", "/contexts/eu/config?origin=true").status_code == 404
    assert api("GET", "/mode/s?origin=true").json()["error_code"] == 40409


def test_a_read_only_subject_takes_no_writes(api: Any) -> None:
    api.register("s", '"int"')
    api("PUT", "/mode/s", {"mode": "READONLY"})
    refused = error(42205, "Subject s in context  is in read-only mode")
    assert api.register("s", '"long"').json() == refused
    assert api("DELETE", "/subjects/s").json() == refused
    assert api("PUT", "/config/s", {"compatibility": "NONE"}).json() == refused


def test_import_takes_ids_as_they_are_and_checks_nothing(api: Any) -> None:
    assert api("PUT", "/mode", {"mode": "IMPORT"}).json() == {"mode": "IMPORT"}
    assert api.register("s", '"int"', id=42, version=3).json()["id"] == 42
    assert api.register("s", '"string"', id=43, version=4).status_code == 200
    message = "Overwrite new schema with id 42 in context  is not permitted."
    assert api.register("t", '"bytes"', id=42, version=1).json() == error(42205, message)
    assert api.register("s", '"long"').json() == error(42205, "Subject s in context  is not in read-write mode")
    api("PUT", "/mode", {"mode": "READWRITE"})
    assert api.register("t", '"bytes"').json()["id"] == 44
    assert api("PUT", "/mode", {"mode": "IMPORT"}).json() == error(42205, "Cannot import since found existing subjects")
    assert api("PUT", "/mode?force=true", {"mode": "IMPORT"}).status_code == 200


def test_contexts_keep_ids_and_settings_apart(api: Any) -> None:
    api.register("s", '"int"')
    assert api.register(":.c:s", '"string"').json()["id"] == 1
    assert api("GET", "/contexts").json() == [".", ".c"]
    assert api("GET", "/contexts?contextPrefix=.c").json() == [".c"]
    assert api("GET", "/contexts?offset=1&limit=1").json() == [".c"]
    assert api("GET", "/subjects").json() == ["s"]
    assert api("GET", "/subjects?subjectPrefix=:*:").json() == [":.c:s", "s"]
    assert api("GET", "/contexts/c/subjects").json() == [":.c:s"]
    assert api("GET", "/contexts/.c/subjects/s/versions/1").json()["schema"] == '"string"'
    assert api("GET", "/contexts/c/schemas/ids/1/schema").text == '"string"'
    assert api("GET", "/schemas/ids/1?subject=:.c:").json()["schema"] == '"string"'
    assert api("PUT", "/contexts/c/config", {"compatibility": "NONE"}).status_code == 200
    assert api("GET", "/config/:.c:").json() == {"compatibilityLevel": "NONE"}
    assert api.register(":.c:s", '"bytes"').status_code == 200
    assert api("GET", "/subjects/only-there/versions/1").status_code == 404
    api.register(":.c:only-there", '"int"')
    assert api("GET", "/subjects/only-there/versions/1").json()["subject"] == ":.c:only-there"


def test_a_context_is_forgotten_when_it_is_empty(api: Any) -> None:
    api.register(":.c:s", '"int"')
    assert api("DELETE", "/contexts/.c").json() == error(42211, "The specified context '.c' is not empty.")
    api("DELETE", "/subjects/:.c:s")
    api("DELETE", "/subjects/:.c:s?permanent=true")
    answered = api("DELETE", "/contexts/.c")
    assert (answered.status_code, answered.content) == (204, b"")
    assert api("GET", "/contexts").json() == ["."]


def test_a_context_name_with_a_colon_is_refused(api: Any) -> None:
    answered = api("GET", "/contexts/a:b/subjects")
    assert (answered.status_code, answered.json()) == (400, error(400, "Context name 'a:b' cannot contain a colon"))


ACCEPTS = [
    (None, 200, "application/vnd.schemaregistry.v1+json"),
    ("*/*", 200, "application/vnd.schemaregistry.v1+json"),
    ("application/*", 200, "application/vnd.schemaregistry.v1+json"),
    ("*", 200, "application/vnd.schemaregistry.v1+json"),
    ("application/json", 200, "application/json"),
    ("application/vnd.schemaregistry+json", 200, "application/vnd.schemaregistry+json"),
    ("application/vnd.schemaregistry.v1+json;q=0.1, application/json;q=0.9", 200, "application/json"),
    ("text/html, */*;q=0.1", 200, "application/vnd.schemaregistry.v1+json"),
    ("text/html", 406, "application/json"),
    ("application/octet-stream", 406, "application/json"),
    ("application/vnd.schemaregistry.v2+json", 406, "application/json"),
]


@pytest.mark.parametrize(("accept", "status", "media_type"), ACCEPTS, ids=[str(row[0]) for row in ACCEPTS])
def test_the_media_type_of_an_answer(api: Any, accept: str | None, status: int, media_type: str) -> None:
    answered = api("GET", "/subjects", headers={} if accept is None else {"Accept": accept})
    assert (answered.status_code, answered.headers["content-type"]) == (status, media_type)


def test_accepts_in_several_lines_are_one_list(api: Any) -> None:
    for path in ("/subjects", "/schemas/types"):
        answered = api.client.get(path, headers=[("Accept", "text/html"), ("Accept", "application/json")])
        assert (answered.status_code, answered.headers["content-type"]) == (200, "application/json")


@pytest.mark.parametrize(
    ("content_type", "status"),
    [
        ("application/vnd.schemaregistry.v1+json", 200),
        ("application/vnd.schemaregistry+json", 200),
        ("application/json; charset=utf-8", 200),
        ("application/octet-stream", 200),
        (None, 200),
        ("text/plain", 415),
        ("application/xml", 415),
        ("nonsense", 415),
    ],
)
def test_the_media_type_of_a_body(api: Any, content_type: str | None, status: int) -> None:
    headers = {} if content_type is None else {"Content-Type": content_type}
    answered = api.client.post("/subjects/s/versions", content=b'{"schema": "\\"int\\""}', headers=headers)
    assert answered.status_code == status
    assert isinstance(answered.json(), dict)


def test_a_request_id_is_kept_or_made(api: Any) -> None:
    assert api("GET", "/subjects", headers={"X-Request-ID": "mine-1"}).headers["x-request-id"] == "mine-1"
    assert len(api("GET", "/subjects", headers={"X-Request-ID": "bad id\t"}).headers["x-request-id"]) == 32


def test_a_remembered_answer_is_the_routes_own_until_something_is_written(api: Any) -> None:
    api.register("s", '"int"')
    first = api("GET", "/subjects/s/versions/latest")
    assert api("GET", "/subjects/s/versions/latest").content == first.content
    api.register("s", '"long"')
    assert api("GET", "/subjects/s/versions/latest").json()["version"] == 2


def test_a_remembered_answer_is_of_the_media_type_that_was_asked_for(api: Any) -> None:
    api.register("s", '"int"')
    for _ in range(2):
        for media_type in ("application/json", "application/vnd.schemaregistry+json"):
            answered = api("GET", "/schemas/ids/1", headers={"Accept": media_type})
            assert (answered.status_code, answered.headers["content-type"]) == (200, media_type)
        assert api("GET", "/schemas/ids/1", headers={"Accept": "text/html"}).status_code == 406
        assert api("POST", "/subjects/s", {"schema": '"int"'}).json()["version"] == 1
        assert api("POST", "/subjects/s").status_code == 422


def test_health_and_metrics_tell_of_the_node(api: Any) -> None:
    api.register("s", '"int"')
    assert api("GET", "/health/live").json() == {"status": "UP"}
    ready = api("GET", "/health/ready").json()
    assert (ready["status"], ready["leader"], ready["lag"]) == ("UP", True, 0)
    assert "magicbyte_registry_ready 1.0" in api("GET", "/metrics").text


def test_the_server_describes_its_types_and_version(api: Any) -> None:
    assert api("GET", "/").json() == {}
    assert api("POST", "/", {"any": "thing"}).json() == {}
    assert sorted(api("GET", "/schemas/types").json()) == ["AVRO", "JSON", "PROTOBUF"]
    scope = api("GET", "/v1/metadata/id").json()["scope"]
    assert scope == {"path": [], "clusters": {"kafka-cluster": "", "schema-registry-cluster": "schema-registry"}}
    assert api("GET", "/v1/metadata/version").json()["version"] == __version__
