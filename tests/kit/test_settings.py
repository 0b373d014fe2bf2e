"""The reader of settings: single values, sections, and what is made from a table of settings."""

from __future__ import annotations

import copy
import pickle
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from magicbyte.kit.settings.compound import ListOf
from magicbyte.kit.settings.generated import document_schema, reference, yaml_flow
from magicbyte.kit.settings.kinds import Kind, Reading, choice, duration, flag, ratio, real, size, text, whole
from magicbyte.kit.settings.nodes import BROKEN, Entry, MapNode, value_node
from magicbyte.kit.settings.place import NOWHERE, Place, PlacedText, did_you_mean, moved, place_of, with_places
from magicbyte.kit.settings.property_sources import properties_of_environment, properties_of_file
from magicbyte.kit.settings.section import Section, read_section, setting

REFUSED = "refused"


@pytest.mark.parametrize(
    ("kind", "value", "typed", "parsed"),
    [
        (flag(), True, True, True),
        (flag(), "TRUE", REFUSED, True),
        (flag(), 0, REFUSED, False),
        (flag(), "yes", REFUSED, REFUSED),
        (whole(1, 9), 9, 9, 9),
        (whole(1, 9), 10, REFUSED, REFUSED),
        (whole(1, 9), " 1 ", REFUSED, 1),
        (whole(1, 9), "0", REFUSED, REFUSED),
        (whole(1, 9), True, REFUSED, REFUSED),
        (whole(None), -7, -7, -7),
        (ratio(), 1, 1.0, 1.0),
        (ratio(), 1.01, REFUSED, REFUSED),
        (real(), "1e3", REFUSED, 1000.0),
        (text(), 5, "5", "5"),
        (text(numbers=False), 5, REFUSED, REFUSED),
        (text(pattern="a|b"), "ba", REFUSED, REFUSED),
        (text(pattern="a|b"), "b\n", REFUSED, REFUSED),
        (choice("A", "B", spell=str.upper), "b", "B", "B"),
        (duration(), "90m", timedelta(minutes=90), timedelta(minutes=90)),
        (size(), "2KB", 2048, 2048),
    ],
)
def test_single_values(kind: Kind, value: object, typed: object, parsed: object) -> None:
    for parses, expected in ((False, typed), (True, parsed)):
        reading = Reading(parses=parses)
        read = kind.read(value_node(value), reading, "a")
        assert (REFUSED if read is BROKEN else read) == expected
        assert len(reading.findings) == (expected == REFUSED)


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        (duration(), timedelta(0), "0s"),
        (duration(), timedelta(minutes=90), "90m"),
        (duration(), timedelta(hours=48), "2d"),
        (duration(), timedelta(milliseconds=1500), "1500ms"),
        (size(), 3 * 2**20, "3MB"),
        (size(), 1025, "1025B"),
        (ListOf(text()), ("a b", "true", "12", "x.y"), '["a b", "true", "12", x.y]'),
    ],
)
def test_a_value_is_written_as_it_is_read(kind: Kind, value: object, text: str) -> None:
    assert yaml_flow(kind.written(value)) == text


class Server(Section):
    """A server."""

    port: int = setting(whole(1, 65535), "The port.", "port", "listen-port")
    color: str = setting(choice("red", "green"), "The color | of the page.", default="red")
    password: str | None = setting(text(), "The password.", default=None, default_words="none", secret=True)


def server(values: dict[str, Any], **others: Any) -> tuple[Any, list[str]]:
    reading = Reading()
    entries = {
        name: Entry(Place("f", line, 1), value_node(value, Place("f", line, 9)))
        for line, (name, value) in enumerate(values.items(), 1)
    }
    read = read_section(Server, MapNode(Place("f", 1, 1), entries), reading, "server", **others)
    return read, [str(finding) for finding in reading.findings]


def test_a_section_takes_the_first_of_its_names() -> None:
    read, findings = server({"listen-port": 1, "port": 2})
    assert (read, findings) == (Server(port=2), [])
    assert (read.color, read.at("port"), read.at("color")) == ("red", Place("f", 2, 9), Place("f", 1, 1))
    assert "secret" not in repr(server({"port": 2, "password": "secret"})[0])


def test_all_findings_have_their_place_name_and_nearest_word() -> None:
    assert server({"color": "gren", "prot": 80, "password": True})[1] == [
        "f:1:9: server.color: must be red or green, not 'gren'; did you mean green?",
        "f:2:1: server.prot: no such setting; did you mean port?",
        "f:3:9: server.password: must be a text, not this value",
    ]
    assert server({"x": 1}) == (
        BROKEN,
        [
            "f:1:1: server.x: no such setting; use one of port, listen-port, color, password",
            "f:1:1: server.port: is missing: The port.",
        ],
    )
    assert server({"port": 1, "hosts": 1}, also=("host",))[1] == [
        "f:2:1: server.hosts: no such setting; did you mean host?"
    ]


def test_a_word_without_a_near_one() -> None:
    words = [f"word-{number}" for number in range(13)]
    assert did_you_mean("x", words) == ""
    assert did_you_mean("x", words[:12]) == f"; use one of {', '.join(words[:12])}"


def test_a_placed_text_is_a_text_with_a_place() -> None:
    place = Place("f", 3)
    text = PlacedText("a", place)
    assert (text, f"{text}b", type(str(text))) == ("a", "ab", str)
    assert [place_of(other) for other in (text, copy.deepcopy(text), pickle.loads(pickle.dumps(text)))] == [place] * 3
    assert [place_of(other) for other in (text.strip(), "a", None, moved("b", "a"))] == [NOWHERE] * 4
    assert (moved("b", text), place_of(moved("b", text))) == ("b", place)


def test_properties_know_their_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.properties"
    file.write_text("# x\na.b = \\\n  1\nc-d: 2\n")
    monkeypatch.setenv("X_C__D", "3")
    of_file, of_variables = properties_of_file(file), properties_of_environment("X_")
    assert (of_file, of_variables) == ({"a.b": "1", "c-d": "2"}, {"c-d": "3"})
    both = {"e": "4"} | of_file | of_variables
    assert with_places("a.b: is wrong\nc-d: is wrong: e: too\ne: is wrong\nf: g", both) == (
        f"{file}:2: a.b: is wrong\nX_C__D: c-d: is wrong: e: too\ne: is wrong\nf: g"
    )


def test_the_reference_and_the_schema_of_a_section() -> None:
    assert reference(Server).splitlines()[4:] == [
        "| `port`, `listen-port` | a whole number from 1 to 65535 | required | The port. |",
        "| `color` | red or green | `red` | The color \\| of the page. |",
        "| `password` | a text | none | The password. |",
    ]
    schema = document_schema(Server, "Servers")
    assert schema["anyOf"] == [{"required": ["port"]}, {"required": ["listen-port"]}]
    assert schema["properties"]["color"]["anyOf"][0] == {"enum": ["red", "green"]}
