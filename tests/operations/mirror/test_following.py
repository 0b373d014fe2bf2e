"""Each kind of change of the source arrives in the target."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from magicbyte.testing import running_registry
from tests.operations.mirror.conftest import Api, Running, mirror, until_equal

_RECORD = '{"type":"record","name":"R","fields":[%s]}'
_ONE = _RECORD % '{"name":"a","type":"int"}'
_TWO = _RECORD % '{"name":"a","type":"int"},{"name":"b","type":"int","default":0}'
_REFERRING = _RECORD.replace('"R"', '"S"') % '{"name":"r","type":"R"}'


def _post(subject: str, schema: str, **fields: object) -> tuple[str, str, object]:
    return "POST", f"/subjects/{subject}/versions", {"schema": schema, **fields}


_REFERENCE = [{"name": "R", "subject": "{}-r", "version": 1}]
#: Name -> requests; `{}` is a name of this case alone.
_CHANGES: dict[str, list[tuple[str, str, object]]] = {
    "registered": [_post("{}", _ONE)],
    "versions": [_post("{}", _ONE), _post("{}", _TWO)],
    "same-id": [_post("{}", _ONE), _post("{}-2", _ONE)],
    "json-with-metadata": [
        _post("{}", '{"type":"object"}', schemaType="JSON", metadata={"properties": {"owner": "me"}}),
    ],
    "reference": [_post("{}-r", _ONE), _post("{}-a", _REFERRING, references=_REFERENCE)],
    "soft-deleted-version": [_post("{}", _ONE), _post("{}", _TWO), ("DELETE", "/subjects/{}/versions/1", None)],
    "hard-deleted-version": [
        _post("{}", _ONE),
        _post("{}", _TWO),
        ("DELETE", "/subjects/{}/versions/2", None),
        ("DELETE", "/subjects/{}/versions/2?permanent=true", None),
    ],
    "soft-deleted-subject": [_post("{}", _ONE), ("DELETE", "/subjects/{}", None)],
    "hard-deleted-subject": [
        _post("{}", _ONE),
        ("PUT", "/config/{}", {"compatibility": "FULL"}),
        ("DELETE", "/subjects/{}", None),
        ("DELETE", "/subjects/{}?permanent=true", None),
    ],
    "undeleted": [_post("{}", _ONE), ("DELETE", "/subjects/{}", None), _post("{}", _ONE)],
    "version-with-another-id": [
        _post("{}", _ONE),
        ("DELETE", "/subjects/{}", None),
        ("DELETE", "/subjects/{}?permanent=true", None),
        _post("{}", _TWO),
    ],
    "config-of-a-subject": [_post("{}", _ONE), ("PUT", "/config/{}", {"compatibility": "NONE"})],
    "removed-config": [("PUT", "/config/{}", {"compatibility": "NONE"}), ("DELETE", "/config/{}", None)],
    "config-of-a-context": [
        _post(":.{}:a", _ONE),
        ("PUT", "/config/:.{}:", {"compatibility": "FULL_TRANSITIVE"}),
    ],
    "settings-of-a-context-and-more": [
        _post(":.{}:a", _ONE),
        ("PUT", "/config/:.{}:", {"compatibility": "FULL"}),
        _post(":.{}:b", _TWO),
        ("PUT", "/config/:.{}:a", {"compatibility": "NONE"}),
    ],
    "global-config": [("PUT", "/config", {"compatibility": "FORWARD"})],
    "config-of-all-contexts": [("PUT", "/config/:.__GLOBAL:", {"compatibility": "FULL"})],
    "context": [_post(":.{}:a", _ONE), _post(":.{}:b", _TWO)],
    "readonly-subject": [_post("{}", _ONE), ("PUT", "/mode/{}", {"mode": "READONLY"})],
    "readonly-and-back": [
        _post("{}", _ONE),
        ("PUT", "/mode/{}", {"mode": "READONLY"}),
        ("PUT", "/mode/{}", {"mode": "READWRITE"}),
        _post("{}", _TWO),
    ],
    "readonly-lifted": [
        _post("{}", _ONE),
        ("PUT", "/mode/{}", {"mode": "READONLY"}),
        ("DELETE", "/mode/{}", None),
        ("DELETE", "/subjects/{}", None),
        ("PUT", "/mode/{}", {"mode": "READONLY"}),
    ],
    "odd-name": [_post("%2F{} %25%3F", _ONE)],
}


@pytest.fixture(scope="module")
def followed() -> Iterator[tuple[Api, Api, Running]]:
    """A registry, its mirror, and the mirroring between them."""
    with (
        running_registry("memory:") as left,
        running_registry("memory:") as right,
        mirror(left.url, right.url) as running,
    ):
        running.until_told("is what")
        yield Api(left.url), Api(right.url), running


def _replaced(value: object, name: str) -> object:
    if isinstance(value, str):
        return value.replace("{}", name)
    if isinstance(value, list):
        return [_replaced(item, name) for item in value]
    if isinstance(value, dict):
        return {key: item if key == "schema" else _replaced(item, name) for key, item in value.items()}
    return value


@pytest.mark.parametrize(
    "together", [pytest.param(True, id="at-once"), pytest.param(False, id="one-by-one", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("name", _CHANGES)
def test_a_change_arrives(followed: tuple[Api, Api, Running], name: str, together: bool) -> None:
    source, target, running = followed
    alone = f"{name}-{'x' if together else 'y'}"
    for method, path, body in _CHANGES[name]:
        source(method, path.replace("{}", alone), _replaced(body, alone))
        if not together:
            until_equal(source, target)
    until_equal(source, target)
    assert not running.failed
    assert running.mirroring.metrics.full_syncs == 1


def test_only_the_mirror_writes_into_the_target(followed: tuple[Api, Api, Running]) -> None:
    _, target, _ = followed
    with pytest.raises(AssertionError, match="42205"):
        target.register("foreign", '"int"')


def test_the_mode_of_a_readonly_subject_is_the_same_in_the_target(followed: tuple[Api, Api, Running]) -> None:
    source, target, _ = followed
    source.register("closed", '"int"')
    source("PUT", "/mode/closed", {"mode": "READONLY"})
    source.register("after-closed", '"int"')
    until_equal(source, target)
    assert target.state().modes["closed"] == "READONLY"


def test_the_mirror_replaces_a_referenced_version(followed: tuple[Api, Api, Running]) -> None:
    source, target, running = followed
    line = '{"subject":"%s","version":%d,"id":%d,"schema":%s,"references":%s}\n'
    text, refers = (
        '"{\\"type\\":\\"record\\",\\"name\\":\\"%s\\",\\"fields\\":[%s]}"',
        '[{"name":"X","subject":"wx","version":1}]',
    )
    field = '{\\"name\\":\\"x\\",\\"type\\":\\"X\\"}'
    # The referrer has the lower id, and is what it was when the batch is read.
    referrer = line % ("wy", 1, 900, text % ("Y", field), refers)
    with_mode = '{"kind":"mode","mode":"IMPORT"}\n'
    source.lines(with_mode + line % ("wx", 1, 901, text % ("X", ""), "[]") + referrer)
    until_equal(source, target)
    source.lines(
        '{"kind":"removal","of":"schema","subject":"wy","version":1}\n'
        '{"kind":"removal","of":"schema","subject":"wx","version":1}\n'
        + line % ("wx", 1, 902, text % ("X", '{\\"name\\":\\"i\\",\\"type\\":\\"int\\"}'), "[]")
        + referrer
    )
    until_equal(source, target)
    assert target.state().versions["wx", 1].schema_id == 902
    source("PUT", "/mode", {"mode": "READWRITE"})
    assert not running.failed
