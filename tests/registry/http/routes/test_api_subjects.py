from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

import pytest

USER = '{"type":"record","name":"User","fields":[{"name":"a","type":"int"}]}'
USER_2 = '{"type":"record","name":"User","fields":[{"name":"a","type":"int"},{"name":"b","type":"int","default":1}]}'
NO_DEFAULT = '{"type":"record","name":"User","fields":[{"name":"a","type":"int"},{"name":"b","type":"int"}]}'

INCOMPATIBLE = (
    'Schema being registered is incompatible with an earlier schema for subject "s", details: '
    "[{errorType:'READER_FIELD_MISSING_DEFAULT_VALUE', description:'The field 'b' at path '/fields/1' in the new "
    "schema has no default value and is missing in the old schema', additionalInfo:'b'}, {oldSchemaVersion: 1}, "
    "{oldSchema: '" + USER + "'}, {validateFields: 'false', compatibility: 'BACKWARD'}]"
)

RULE = {"name": "r", "kind": "CONDITION", "mode": "WRITE", "type": "CEL", "expr": "true"}


def error(code: int, message: str) -> dict[str, Any]:
    return {"error_code": code, "message": message}


def test_registering_answers_the_id_and_all_of_the_version(api: Any) -> None:
    answered = api.register("s", '{"type": "string"}')
    assert answered.status_code == 200
    assert answered.headers["content-type"] == "application/vnd.schemaregistry.v1+json"
    body = answered.json()
    assert body.pop("ts") > 1_700_000_000_000
    assert body == {
        "id": 1,
        "version": 1,
        "guid": "095d71cf-1255-6b9d-5e33-0ad575b3df5d",
        "schemaType": "AVRO",
        "schema": '"string"',
        "deleted": False,
    }


def test_the_same_schema_again_is_the_same_version(api: Any) -> None:
    first = api.register("s", USER).json()
    assert api.register("s", USER.replace(",", " , ")).json() == first
    assert len(list(api.log.read(-1))) == 1


def test_the_same_schema_under_another_subject_has_the_same_id(api: Any) -> None:
    api.register("s", USER)
    answered = api.register("t", USER).json()
    assert (answered["id"], answered["version"]) == (1, 1)


def test_an_incompatible_schema_is_refused_with_the_reasons(api: Any) -> None:
    api.register("s", USER)
    answered = api.register("s", NO_DEFAULT)
    assert (answered.status_code, answered.json()) == (409, error(409, INCOMPATIBLE))


def test_the_code_of_newer_servers_is_a_setting(make_api: Callable[..., Any]) -> None:
    api = make_api(magicbyte_incompatible_error_code="40901")
    api.register("s", USER)
    answered = api.register("s", NO_DEFAULT)
    assert (answered.status_code, answered.json()["error_code"]) == (409, 40901)


@pytest.mark.parametrize(
    ("level", "first", "second", "accepted"),
    [
        ("NONE", '"int"', '"string"', True),
        ("BACKWARD", USER, USER_2, True),
        ("BACKWARD", USER, NO_DEFAULT, False),
        ("FORWARD", USER, NO_DEFAULT, True),
        ("FORWARD", NO_DEFAULT, USER, False),
        ("FULL", USER, USER_2, True),
        ("FULL", USER, NO_DEFAULT, False),
        ("FULL", NO_DEFAULT, USER, False),
        ("FULL_TRANSITIVE", USER, USER_2, True),
    ],
)
def test_a_level_decides(api: Any, level: str, first: str, second: str, accepted: bool) -> None:
    api("PUT", "/config", {"compatibility": level})
    api.register("s", first)
    assert api.register("s", second).status_code == (200 if accepted else 409)


@pytest.mark.parametrize(
    ("level", "status"), [("BACKWARD", 200), ("BACKWARD_TRANSITIVE", 409), ("FORWARD_TRANSITIVE", 200)]
)
def test_a_transitive_level_asks_all_versions(api: Any, level: str, status: int) -> None:
    api("PUT", "/config", {"compatibility": "NONE"})
    for fields in ('{"name":"a","type":"int"}', '{"name":"b","type":"int","default":0}'):
        api.register("s", f'{{"type":"record","name":"R","fields":[{fields}]}}')
    api("PUT", "/config", {"compatibility": level})
    third = '{"type":"record","name":"R","fields":[{"name":"b","type":"int"},{"name":"a","type":"int","default":0}]}'
    assert api.register("s", third).status_code == status


LOOKED_UP = [
    ("POST", "/subjects/s", {"schema": '"string"'}, 404, error(40401, "Subject 's' not found.")),
    ("GET", "/subjects/s/versions", None, 404, error(40401, "Subject 's' not found.")),
    ("GET", "/subjects/s/versions/1", None, 404, error(40401, "Subject 's' not found.")),
    ("GET", "/subjects/s/versions/latest", None, 404, error(40401, "Subject 's' not found.")),
    ("GET", "/subjects/s/versions/1/schema", None, 404, error(40401, "Subject 's' not found.")),
    ("GET", "/subjects/s/versions/1/referencedby", None, 404, error(40401, "Subject 's' not found.")),
    ("DELETE", "/subjects/s", None, 404, error(40401, "Subject 's' not found.")),
    ("DELETE", "/subjects/s/versions/1", None, 404, error(40401, "Subject 's' not found.")),
    ("POST", "/subjects/user", {"schema": '"string"'}, 404, error(40403, "Schema not found")),
    ("GET", "/subjects/user/versions/9", None, 404, error(40402, "Version 9 not found.")),
    ("DELETE", "/subjects/user/versions/9", None, 404, error(40402, "Version 9 not found.")),
    (
        "POST",
        "/compatibility/subjects/user/versions/9",
        {"schema": '"int"'},
        404,
        error(40402, "Version 9 not found."),
    ),
    ("POST", "/compatibility/subjects/s/versions/9", {"schema": '"int"'}, 404, error(40402, "Version 9 not found.")),
    ("POST", "/compatibility/subjects/s/versions/latest", {"schema": '"int"'}, 200, {"is_compatible": True}),
    ("POST", "/compatibility/subjects/s/versions", {"schema": '"int"'}, 200, {"is_compatible": True}),
    ("GET", "/schemas/ids/99", None, 404, error(40403, "Schema 99 not found")),
    ("GET", "/schemas/ids/99/schema", None, 404, error(40403, "Schema 99 not found")),
    ("GET", "/schemas/ids/99/subjects", None, 404, error(40403, "Schema not found")),
    ("GET", "/schemas/ids/99/versions", None, 404, error(40403, "Schema not found")),
    ("GET", "/schemas/ids/abc", None, 404, error(404, "HTTP 404 Not Found")),
    ("GET", "/schemas/guids/nonsense", None, 404, error(40403, "Schema nonsense not found")),
    ("GET", "/schemas/guids/nonsense/ids", None, 200, []),
    ("GET", "/nothing/here", None, 404, error(404, "HTTP 404 Not Found")),
    ("PATCH", "/subjects", None, 405, error(405, "HTTP 405 Method Not Allowed")),
]


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "expected"), LOOKED_UP, ids=[" ".join(row[:2]) for row in LOOKED_UP]
)
def test_requests_for_missing_resources(
    api: Any, method: str, path: str, body: Any, status: int, expected: Any
) -> None:
    api.register("user", USER)
    answered = api(method, path, body)
    assert (answered.status_code, answered.json()) == (status, expected)


@pytest.mark.parametrize("version", ["0", "-2", "abc", "2147483648", "1.5", "99999999999"])
def test_an_invalid_version_number(api: Any, version: str) -> None:
    api.register("s", USER)
    answered = api("GET", f"/subjects/s/versions/{version}")
    message = (
        f"The specified version '{version}' is not a valid version id. "
        'Allowed values are between [1, 2^31-1] and the string "latest"'
    )
    assert (answered.status_code, answered.json()) == (422, error(42202, message))


@pytest.mark.parametrize("version", ["1", "latest", "LATEST", "-1", "%20latest%20"])
def test_a_version_is_read_by_number_or_as_the_latest(api: Any, version: str) -> None:
    api.register("s", USER)
    body = api("GET", f"/subjects/s/versions/{version}").json()
    assert [body[name] for name in ("subject", "version", "id", "schemaType", "schema")] == ["s", 1, 1, "AVRO", USER]
    assert list(body) == ["subject", "version", "id", "guid", "schemaType", "schema", "ts", "deleted"]


def test_a_schema_is_read_by_id_and_guid(api: Any) -> None:
    registered = api.register("s", USER).json()
    by_id = api("GET", "/schemas/ids/1").json()
    assert by_id == {name: registered[name] for name in ("guid", "schemaType", "schema", "ts", "deleted")}
    assert api("GET", "/schemas/ids/1/schema").text == USER
    assert api("GET", "/schemas/ids/1/subjects").json() == ["s"]
    assert api("GET", "/schemas/ids/1/versions").json() == [{"subject": "s", "version": 1}]
    assert api("GET", "/schemas/ids/1?fetchMaxId=true").json()["maxId"] == 1
    assert api("GET", "/schemas/ids/1?subject=s").json()["version"] == 1
    assert api("GET", f"/schemas/guids/{registered['guid']}").json() == by_id
    assert api("GET", f"/schemas/guids/{registered['guid']}/ids").json() == [{"context": ".", "id": 1}]


def test_answers_have_their_keys_in_the_references_order(api: Any) -> None:
    api.register("base", '{"type":"enum","name":"E","symbols":["A"]}')
    body = {
        "schema": '{"type":"record","name":"R","fields":[{"name":"e","type":"E","confluent:tags":["PII"]}]}',
        "references": [{"name": "E", "subject": "base", "version": 1}],
        "metadata": {"properties": {"a": "b"}},
        "ruleSet": {"domainRules": [RULE]},
    }
    extras = ["references", "metadata", "ruleSet"]
    for method, path, keys in (
        ("POST", "/subjects/s/versions", ["id", "version", "guid", "schemaType", *extras, "schema", "ts", "deleted"]),
        (
            "GET",
            "/subjects/s/versions/1?findTags=*",
            ["subject", "version", "id", "guid", "schemaType", *extras, "schema", "schemaTags", "ts", "deleted"],
        ),
        (
            "GET",
            "/schemas/ids/2?subject=s&findTags=*&fetchMaxId=true",
            ["subject", "version", "guid", "schemaType", "schema", *extras, "schemaTags", "maxId", "ts", "deleted"],
        ),
    ):
        assert list(api(method, path, body if method == "POST" else None).json()) == keys


def test_deleting_softly_and_then_for_good(api: Any) -> None:
    api.register("s", USER)
    api.register("s", USER_2)
    message = "Subject 's' Version 1 was not deleted first before being permanently deleted"
    assert api("DELETE", "/subjects/s/versions/1?permanent=true").json() == error(40407, message)
    assert api("DELETE", "/subjects/s/versions/1").json() == 1
    message = "Subject 's' Version 1 was soft deleted.Set permanent=true to delete permanently"
    assert api("DELETE", "/subjects/s/versions/1").json() == error(40406, message)
    assert api("GET", "/subjects/s/versions").json() == [2]
    assert api("GET", "/subjects/s/versions?deleted=true").json() == [1, 2]
    assert api("GET", "/subjects/s/versions?deletedOnly=true").json() == [1]
    assert api("GET", "/subjects/s/versions?deletedAsNegative=true").json() == [-1, 2]
    assert api("GET", "/subjects/s/versions/1").json() == error(40402, "Version 1 not found.")
    assert api("GET", "/subjects/s/versions/1?deleted=true").json()["deleted"] is True
    assert api("GET", "/schemas/ids/1").json()["schema"] == USER
    message = "Subject 's' was not deleted first before being permanently deleted"
    assert api("DELETE", "/subjects/s?permanent=true").json() == error(40405, message)
    assert api("DELETE", "/subjects/s").json() == [2]
    message = "Subject 's' was soft deleted.Set permanent=true to delete permanently"
    assert api("DELETE", "/subjects/s").json() == error(40404, message)
    assert (api("GET", "/subjects").json(), api("GET", "/subjects?deleted=true").json()) == ([], ["s"])
    assert api("GET", "/subjects?deletedOnly=true").json() == ["s"]
    assert api("GET", "/subjects/s/versions?deletedAsNegative=true").json() == error(40401, "Subject 's' not found.")
    assert api("GET", "/subjects/s/versions?deletedAsNegative=true&deleted=true").json() == [-1, -2]
    assert api("DELETE", "/subjects/s?permanent=true").json() == [1, 2]
    assert api("GET", "/subjects?deleted=true").json() == []
    assert api("GET", "/schemas/ids/1").status_code == 404


@pytest.mark.parametrize("schema_type", ["avro", "Avro", "json", "protobuf", "XML", ""])
def test_a_type_has_one_spelling(api: Any, schema_type: str) -> None:
    body = {"schema": '"string"', "schemaType": schema_type}
    message = f"Invalid schema type {schema_type}"
    api.register("s", '"int"')
    for path in ("/subjects/s/versions", "/subjects/s", "/compatibility/subjects/s/versions/latest"):
        answered = api("POST", path, body)
        assert (answered.status_code, answered.json()) == (422, error(42201, message))
    verbose = api("POST", "/compatibility/subjects/s/versions?verbose=true", body)
    assert verbose.json() == {"is_compatible": False, "messages": [message]}
    assert api("POST", "/subjects/s", {"schema": '"int"', "schemaType": None}).json()["version"] == 1


def test_a_subject_of_which_nothing_is_deleted_has_no_deleted_versions(api: Any) -> None:
    api.register("s", USER)
    answered = api("GET", "/subjects/s/versions?deletedOnly=true")
    assert (answered.status_code, answered.json()) == (200, [])
    api("DELETE", "/subjects/s/versions/1")
    assert api("GET", "/subjects/s/versions?deletedOnly=true").json() == [1]
    answered = api("GET", "/subjects/unknown/versions?deletedOnly=true")
    assert (answered.status_code, answered.json()) == (404, error(40401, "Subject 'unknown' not found."))


@pytest.mark.parametrize("path", ["/subjects/s", "/subjects/s/versions/1"])
def test_settings_stay_until_the_last_version_is_deleted_for_good(api: Any, path: str) -> None:
    api.register("s", USER)
    api("PUT", "/config/s", {"compatibility": "FULL"})
    api("PUT", "/mode/s", {"mode": "READWRITE"})
    assert api("DELETE", path).status_code == 200
    assert api("GET", "/config/s").json() == {"compatibilityLevel": "FULL"}
    assert api("GET", "/mode/s").json() == {"mode": "READWRITE"}
    assert api("DELETE", f"{path}?permanent=true").status_code == 200
    assert api("GET", "/config/s").json()["error_code"] == 40408
    assert api("GET", "/mode/s").json()["error_code"] == 40409


def test_settings_stay_with_versions_that_are_softly_deleted(api: Any) -> None:
    api.register("s", USER)
    api.register("s", USER_2)
    api("PUT", "/config/s", {"compatibility": "NONE"})
    for version in (1, 2):
        api("DELETE", f"/subjects/s/versions/{version}")
    api("DELETE", "/subjects/s/versions/1?permanent=true")
    assert api("GET", "/config/s").json() == {"compatibilityLevel": "NONE"}
    assert api.register("s", '"int"').json()["version"] == 3
    assert api("GET", "/config/s").json() == {"compatibilityLevel": "NONE"}


def test_an_id_once_given_is_never_given_again(api: Any, make_api: Callable[..., Any]) -> None:
    api.register("s", USER)
    api.register("s", USER_2)
    api("DELETE", "/subjects/s")
    api("DELETE", "/subjects/s?permanent=true")
    assert api.register("s", '"int"').json()["id"] == 3


def test_registering_a_deleted_schema_again_gives_a_new_version_and_the_old_id(api: Any) -> None:
    api.register("s", USER)
    api("DELETE", "/subjects/s/versions/1")
    answered = api.register("s", USER).json()
    assert (answered["id"], answered["version"]) == (1, 2)
    assert api("GET", "/subjects/s/versions?deleted=true").json() == [2]


def test_a_deletion_after_an_undeletion_covers_all_versions_in_any_replay(api: Any) -> None:
    for text in ('"int"', '"long"', '"double"'):
        api.register("s", text)
    api("DELETE", "/subjects/s")
    api("POST", "/subjects/s/versions/2/undelete")
    assert api("DELETE", "/subjects/s").json() == [2]
    last = list(api.log.read(-1))[-1]
    assert (last.key, last.value) == (
        b'{"keytype":"DELETE_SUBJECT","subject":"s","magic":0}',
        b'{"subject":"s","version":3}',
    )


def test_undeleting_brings_versions_back(api: Any) -> None:
    api.register("s", USER)
    api("DELETE", "/subjects/s")
    assert api("POST", "/subjects/s/undelete").json() == [1]
    assert api("GET", "/subjects/s/versions").json() == [1]


@pytest.mark.parametrize(("expected", "status"), [('"1"', 200), ("1", 200), ('"0"', 412), ("x", 400)])
def test_if_match_names_the_latest_version(api: Any, expected: str, status: int) -> None:
    api.register("s", USER)
    answered = api("POST", "/subjects/s/versions", {"schema": USER_2}, headers={"If-Match": expected})
    assert answered.status_code == status


def test_references_are_resolved_pinned_and_protected(api: Any) -> None:
    api.register("base", '{"type":"enum","name":"E","symbols":["A"]}')
    text = '{"type":"record","name":"R","fields":[{"name":"e","type":"E"}]}'
    reference = {"name": "E", "subject": "base", "version": -1}
    answered = api.register("s", text, references=[reference]).json()
    assert answered["references"] == [{"name": "E", "subject": "base", "version": 1}]
    assert api("GET", "/subjects/base/versions/1/referencedby").json() == [2]
    message = "One or more references exist to the schema {magic=1,keytype=SCHEMA,subject=base,version=1}."
    holder = {"subject": "s", "version": 1, "id": 2, "deleted": False}
    refusal = {**error(42206, message), "referencedBy": [holder]}
    for path in ("/subjects/base/versions/1", "/subjects/base"):
        assert api("DELETE", path).json() == refusal
    resolved = api("GET", "/subjects/s/versions/1?format=resolved").json()["schema"]
    assert resolved == (
        '{"type":"record","name":"R","fields":[{"name":"e","type":{"type":"enum","name":"E","symbols":["A"]}}]}'
    )


@pytest.mark.parametrize(
    ("references", "detail"),
    [
        (
            [{"name": "E", "subject": "base", "version": 7}],
            'No schema reference found for subject "base" and version 7',
        ),
        ([{"name": "E", "version": 1}], "Invalid reference: {name='E', subject='', version=1}"),
    ],
)
def test_a_reference_that_leads_nowhere(api: Any, references: Any, detail: str) -> None:
    api.register("base", '{"type":"enum","name":"E","symbols":["A"]}')
    answered = api.register("s", '"int"', references=references)
    assert answered.status_code == 422
    assert answered.json() == error(42201, f"Invalid schema of type AVRO, details: {detail}")


@pytest.mark.parametrize(
    ("body", "status", "code", "message"),
    [
        ({"schema": "{"}, 422, 42201, "Invalid schema of type AVRO, details: "),
        (
            {"schema": '{"type":"record","name":"R","fields":[{"name":"a","type":"str"}]}'},
            422,
            42201,
            "Invalid schema of type AVRO, details: Undefined schema: str",
        ),
        ({"schema": ""}, 422, 42201, "Empty schema"),
        ({}, 422, 42201, "Empty schema"),
        ({"schema": '"int"', "schemaType": "XML"}, 422, 42201, "Invalid schema type XML"),
        ({"schema": '"int"', "version": 7}, 422, 42201, "Version is not one more than previous version"),
        ({"schema": '"int"', "id": 7}, 422, 42205, "Subject s in context  is not in import mode"),
        ({"schema": 7}, 400, 400, "schema must be a string, not an integer"),
        ({"schema": '"int"', "references": {}}, 400, 400, "references must be an array, not an object"),
        ({"schema": '"int"', "references": [1]}, 400, 400, "references[0] must be an object, not an integer"),
        ({"schema": '"int"', "version": True}, 400, 400, "version must be an integer, not a boolean"),
        (["schema"], 400, 400, "the body must be a JSON object, not an array"),
        (None, 422, 422, "The request body may not be null"),
    ],
)
def test_a_body_that_is_refused(api: Any, body: Any, status: int, code: int, message: str) -> None:
    headers = {"Content-Type": "application/json"}
    answered = api.client.post("/subjects/s/versions", json=body, headers=headers)
    assert (answered.status_code, answered.json()["error_code"]) == (status, code)
    assert answered.json()["message"].startswith(message)


@pytest.mark.parametrize(
    ("rule_set", "code", "message"),
    [
        ({"domainRules": [RULE | {"name": None}]}, 42210, "Missing rule name"),
        ({"domainRules": [RULE | {"name": ""}]}, 42210, "Empty rule name"),
        ({"domainRules": [RULE | {"name": "a" * 257}]}, 42210, "Rule name too long"),
        ({"domainRules": [RULE | {"name": "1a"}]}, 42210, "Illegal initial character in rule name: 1a"),
        ({"domainRules": [RULE | {"name": "a.b"}]}, 42210, "Illegal character in rule name: a.b"),
        ({"domainRules": [RULE | {"type": None}]}, 42210, "Missing rule type"),
        ({"domainRules": [RULE], "encodingRules": [RULE]}, 42210, "Found rule with duplicate name 'r'"),
        ({"migrationRules": [RULE]}, 42210, "Migration rules can only be UPGRADE, DOWNGRADE, UPDOWN"),
        ({"domainRules": [RULE | {"mode": "UPDOWN"}]}, 42210, "Domain rules can only be WRITE, READ, WRITEREAD"),
        ({"encodingRules": [RULE | {"mode": None}]}, 42210, "Encoding rules can only be WRITE, READ, WRITEREAD"),
        (
            {"domainRules": [RULE | {"onSuccess": "a,b"}]},
            42210,
            "Multiple actions only valid with WRITEREAD and UPDOWN",
        ),
        ({"domainRules": [RULE | {"kind": "WISH"}]}, 42210, "Rules can only be of kind TRANSFORM, CONDITION"),
        ({"enableAt": "HOME"}, 42210, "Rules can only be enabled at ALL, CLIENT, GATEWAY, SERVER, NONE"),
        (
            {"domainRules": [RULE | {"disabled": "no"}]},
            400,
            "{member}.domainRules[0].disabled must be a boolean, not a string",
        ),
        ({"domainRules": [RULE | {"tags": "PII"}]}, 400, "{member}.domainRules[0].tags must be an array, not a string"),
    ],
)
def test_a_rule_set_that_is_refused(api: Any, rule_set: Any, code: int, message: str) -> None:
    answered = api.register("s", '"int"', ruleSet=rule_set)
    told = error(code, message.format(member="ruleSet"))
    assert (answered.status_code, answered.json()) == (422 if code == 42210 else 400, told)
    told = error(code, message.format(member="defaultRuleSet"))
    assert api("PUT", "/config/s", {"defaultRuleSet": rule_set}).json() == told


@pytest.mark.parametrize("raw", [b"{", b"", b"   ", b'{"schema": "\\ud800"', b"\xff\xfe", b"[" * 100_000])
def test_a_body_that_is_no_json(api: Any, raw: bytes) -> None:
    answered = api.client.post("/subjects/s/versions", content=raw)
    assert answered.status_code in {400, 422}
    assert answered.json()["error_code"] == answered.status_code


@pytest.mark.parametrize("charset", ["utf-16", "UTF-16LE", "utf-32", "iso-8859-1", "Windows-1252", '"utf-8"'])
def test_a_body_in_another_charset_is_read(api: Any, charset: str) -> None:
    headers = {"Content-Type": f"application/vnd.schemaregistry.v1+json; charset={charset}"}
    content = '{"schema": "\\"int\\""}'.encode(charset.strip('"'))
    assert api.client.post("/subjects/s/versions", content=content, headers=headers).json()["schema"] == '"int"'


@pytest.mark.parametrize("charset", ["undefined", "punycode", "zlib", "unicode_escape", "none-such", "utf-16"])
def test_a_body_in_a_charset_that_is_not_read(api: Any, charset: str) -> None:
    headers = {"Content-Type": f"application/json; charset={charset}"}
    answered = api.client.post("/subjects/s/versions", content=b'{"schema": "\\ud800"}x', headers=headers)
    assert (answered.status_code, answered.json()["error_code"]) == (400, 400)
    assert answered.json()["message"].startswith(f"the body is not {charset}: ")


@pytest.mark.parametrize("subject", ["a%2Fb", "a%20b", "%C3%BC", "a%3Ab", "%25", "x%252Fy"])
def test_a_subject_may_hold_any_printable_character(api: Any, subject: str) -> None:
    assert api.register(subject, USER).status_code == 200
    assert api("GET", "/subjects").json() == [unquote(subject)]
    assert api("GET", f"/subjects/{subject}/versions").json() == [1]


@pytest.mark.parametrize("subject", ["a%0Ab", "__GLOBAL", "__EMPTY", ":.__GLOBAL:s"])
def test_a_subject_that_is_refused(api: Any, subject: str) -> None:
    answered = api.register(subject, USER)
    assert (answered.status_code, answered.json()["error_code"]) == (422, 42208)


def test_too_large_a_body_is_refused(make_api: Callable[..., Any]) -> None:
    api = make_api(**{"size.limit.filter.max.request.body.size": "1000"})
    answered = api.register("s", '{"type":"string","doc":"' + "x" * 1000 + '"}')
    assert (answered.status_code, answered.json()["error_code"]) == (413, 413)


def test_the_version_minus_one_is_compared_with_the_latest_version_only(api: Any) -> None:
    def register(schema: str, **fields: Any) -> tuple[int, int]:
        answer = api.register("s", schema, **fields).json()
        return answer["id"], answer["version"]

    assert register('"int"') == (1, 1)
    assert register('"int"', version=2) == (2, 2)
    for _ in range(2):
        assert register('"int"', version=-1) == (2, 2)
    assert register('"int"') == (1, 1)
    assert register('"long"', version=-1) == (3, 3)
    assert register('"long"', version=-1) == (3, 3)
    # The latest one is another text now.
    api("PUT", "/config", {"compatibility": "NONE"})
    assert register('"int"', version=-1) == (4, 4)
    assert api("GET", "/subjects/s/versions").json() == [1, 2, 3, 4]
