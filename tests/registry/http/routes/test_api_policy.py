"""The LOGICAL policy: refused when it is set; a stored one is judged as STRICT, with a note."""

from __future__ import annotations

from typing import Any

import pytest

from registry.log.port import Record

OLD = '{"type":"object","properties":{"a":{"type":"string"}}}'
WIDER = '{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}'
ADDED = (
    '{errorType:"OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL", description:"The new schema has an open content model '
    "and has a property or item at path '#/properties/b' which is missing in the old schema'}"
)
AS_STRICT = "compatibilityPolicy LOGICAL is not supported: judged as STRICT"
LOGGED = "the compatibilityPolicy of s is LOGICAL, which is not supported: judged as STRICT"


@pytest.mark.parametrize("path", ["/config", "/config/s", "/config/:.c:"])
@pytest.mark.parametrize("policy", ["LOGICAL", "logical"])
def test_a_setting_with_an_unsupported_policy_is_refused_by_name(api: Any, path: str, policy: str) -> None:
    answered = api("PUT", path, {"compatibility": "FULL", "compatibilityPolicy": policy})
    message = "The compatibility policy LOGICAL is not supported; use STRICT or LENIENT"
    assert (answered.status_code, answered.json()) == (422, {"error_code": 42203, "message": message})
    assert api("GET", path).json() != {"compatibilityLevel": "FULL"}
    assert api("PUT", path, {"compatibilityPolicy": "lenient"}).json() == {"compatibilityPolicy": "LENIENT"}


def store_logical(api: Any, level: str = "BACKWARD") -> None:
    """Put a config into the log as a server that has the policy writes it."""
    key = b'{"keytype":"CONFIG","subject":"s","magic":0}'
    value = b'{"subject":"s","compatibilityLevel":"%b","compatibilityPolicy":"LOGICAL"}' % level.encode()
    api.log.append([Record(key, value, 0)], api.log.end())
    # a node that writes reads first what others have written
    api("PUT", "/config/other", {"compatibility": "NONE"})
    api("DELETE", "/config/other")
    assert api("GET", "/config/s").json() == {"compatibilityLevel": level, "compatibilityPolicy": "LOGICAL"}


def test_the_registry_treats_a_stored_unsupported_policy_as_strict_and_says_so(
    api: Any, caplog: pytest.LogCaptureFixture
) -> None:
    api.register("s", OLD, schemaType="JSON")
    store_logical(api)
    answered = api.register("s", WIDER, schemaType="JSON")
    assert (answered.status_code, answered.json()["message"]) == (
        409,
        f'Schema being registered is incompatible with an earlier schema for subject "s", details: [{ADDED}, '
        f"{{oldSchemaVersion: 1}}, {{oldSchema: '{OLD}'}}, {{validateFields: 'false', compatibility: 'BACKWARD'}}, "
        f"{AS_STRICT}]",
    )
    assert LOGGED in caplog.text
    for path in ("/compatibility/subjects/s/versions/1", "/compatibility/subjects/s/versions"):
        caplog.clear()
        verdict = api("POST", f"{path}?verbose=true", {"schema": WIDER, "schemaType": "JSON"}).json()
        assert (verdict["is_compatible"], verdict["messages"][0], verdict["messages"][-1]) == (False, ADDED, AS_STRICT)
        same = api("POST", f"{path}?verbose=true", {"schema": OLD, "schemaType": "JSON"}).json()
        assert same == {"is_compatible": True, "messages": [AS_STRICT]}
        assert LOGGED in caplog.text
    assert api("POST", path, {"schema": OLD, "schemaType": "JSON"}).json() == {"is_compatible": True}


def test_without_a_check_no_message_mentions_the_policy(api: Any, caplog: pytest.LogCaptureFixture) -> None:
    api.register("s", OLD, schemaType="JSON")
    store_logical(api, "NONE")
    assert api.register("s", WIDER, schemaType="JSON").status_code == 200
    assert LOGGED not in caplog.text


def test_a_stored_unsupported_policy_does_not_block_other_settings(api: Any) -> None:
    store_logical(api)
    assert api("PUT", "/config/s", {"compatibility": "FULL"}).json() == {
        "compatibility": "FULL",
        "compatibilityPolicy": "LOGICAL",
    }
    assert api("PUT", "/config/s", {"compatibilityPolicy": "STRICT"}).json() == {
        "compatibility": "FULL",
        "compatibilityPolicy": "STRICT",
    }


def test_an_export_keeps_a_stored_unsupported_policy(api: Any, make_api: Any) -> None:
    store_logical(api)
    other = make_api()
    report = other.client.post("/import", content=api("GET", "/export").content).json()
    assert (report["imported"], report["refused"]) == ({"config": 1}, [])
    assert other("GET", "/config/s").json() == {"compatibilityLevel": "BACKWARD", "compatibilityPolicy": "LOGICAL"}
