"""The version that equals a candidate, among the versions that it may be."""

from __future__ import annotations

import pytest

from compat.contracts.model import Metadata
from compat.schema import AVRO, Reference
from magicbyte.kit.errors import ApiError
from registry import errors
from registry.decide import Sent, Terms, decide_register, look_up, registered
from registry.decide.registration.candidate import candidate_of
from registry.decide.registration.stages import Completed, Eligible, Unparsed
from registry.decide.registration.stored_match import stored_match
from registry.state import records
from registry.state.model import LATEST, Config, Content, Version
from registry.state.records import Key
from registry.state.view import View

INT, LONG, FLOAT = (Content(AVRO, f'"{name}"') for name in ("int", "long", "float"))
OWNED = Content(AVRO, '"int"', metadata=Metadata(properties={"owner": "a"}))
NUMBERED = Content(AVRO, '"long"', metadata=Metadata(properties={"confluent:version": "9"}))
USING = '{"type":"record","name":"R","fields":[{"name":"f","type":"B"}]}'
SPELLED_OUT = '{"type":"record","name":"R","fields":[{"name":"f","type":{"type":"fixed","name":"B","size":1}}]}'


def put(view: View, subject: str, number: int, schema_id: int, content: Content, *, deleted: bool = False) -> None:
    version = Version(subject, number, schema_id, content, deleted=deleted, timestamp=0)
    view.apply_record(records.version_record(records.encode_key(Key(records.SCHEMA, subject, number)), version))


@pytest.fixture
def view() -> View:
    """Versions 1 and 2 are an int, 3 is deleted, 4 is an int with an owner, and 5 is a long."""
    view = View()
    put(view, "s", 1, 1, INT)
    put(view, "s", 2, 1, INT)
    put(view, "s", 3, 3, FLOAT, deleted=True)
    put(view, "s", 4, 4, OWNED)
    put(view, "s", 5, 5, LONG)
    return view


@pytest.mark.parametrize(
    ("content", "eligible", "number"),
    [
        (INT, Eligible(), 2),
        (INT, Eligible(1), 1),
        (INT, Eligible(4), None),
        (INT, Eligible(6), None),
        (INT, Eligible(schema_id=1), 2),
        (INT, Eligible(1, 1), 1),
        (INT, Eligible(schema_id=4), None),
        (INT, Eligible(LATEST), None),
        (OWNED, Eligible(), 4),
        (LONG, Eligible(LATEST), 5),
        # The version property that a request inherits is not compared with that of the latest version.
        (NUMBERED, Eligible(LATEST), 5),
        (NUMBERED, Eligible(), None),
        (FLOAT, Eligible(), None),
        (FLOAT, Eligible(3), None),
        (FLOAT, Eligible(include_deleted=True), 3),
        (Content(AVRO, '"bytes"'), Eligible(), None),
    ],
)
def test_the_version_that_equals_a_text(view: View, content: Content, eligible: Eligible, number: int | None) -> None:
    terms = Terms()
    sent = Sent("s", content)
    for candidate in (
        Unparsed("s", content),
        candidate_of(view, Completed.as_sent(sent, Config()), terms, strict=True),
    ):
        version = stored_match(view, candidate, eligible, terms)
        assert (None if version is None else version.number) == number


def test_nothing_equals_the_latest_version_of_a_subject_that_has_none() -> None:
    view = View()
    put(view, "s", 1, 1, INT, deleted=True)
    assert stored_match(view, Unparsed("s", INT), Eligible(LATEST), Terms()) is None


@pytest.mark.parametrize(
    ("eligible", "number"), [(Eligible(), 2), (Eligible(1), 1), (Eligible(LATEST), 2), (Eligible(schema_id=3), None)]
)
def test_a_parsed_schema_may_spell_a_reference_out(eligible: Eligible, number: int | None) -> None:
    view, terms, references = View(), Terms(), (Reference("B", "base", 1),)
    put(view, "base", 1, 1, Content(AVRO, '{"type":"fixed","name":"B","size":1}'))
    for version in (1, 2):
        put(view, "s", version, 2, Content(AVRO, USING, references))
    content = Content(AVRO, SPELLED_OUT)
    candidate = candidate_of(view, Completed.as_sent(Sent("s", content), Config()), terms, strict=True)
    found = stored_match(view, candidate, eligible, terms)
    assert (None if found is None else found.number) == number
    assert stored_match(view, Unparsed("s", content), eligible, terms) is None


def with_mode(view: View, mode: str) -> View:
    key = Key(records.MODE, "s")
    view.apply_record(records.Record(records.encode_key(key), records.encode_mode(key, mode), 0))
    return view


@pytest.mark.parametrize(
    ("mode", "sent", "number"),
    [
        ("READWRITE", Sent("s", INT), 2),
        ("READONLY", Sent("s", INT), 2),
        ("READWRITE", Sent("s", INT, version=1), 1),
        ("READWRITE", Sent("s", LONG, version=LATEST), 5),
        ("READWRITE", Sent("s", LONG, version=-7), None),
        ("READWRITE", Sent("s", INT, expected_latest=5), None),
        ("READWRITE", Sent("s", INT, normalize=True), None),
        ("READWRITE", Sent("s", LONG, tags_to_remove={}), 5),
        ("READWRITE", Sent("s", LONG, propagate_tags=True), None),
        # Only if the mode refuses registrations is the text parsed, because no later step would parse it.
        ("READWRITE", Sent("s", Content(AVRO, ' "long"')), None),
        ("READONLY", Sent("s", Content(AVRO, ' "long"')), 5),
        ("READONLY", Sent("s", Content(AVRO, "no schema")), None),
        ("READWRITE", Sent("t", INT), None),
    ],
)
def test_a_stored_version_answers_a_registration_without_a_write(
    view: View, mode: str, sent: Sent, number: int | None
) -> None:
    version = registered(with_mode(view, mode), sent, Terms())
    assert (None if version is None else version.number) == number


@pytest.mark.parametrize(
    ("sent", "number"),
    [
        (Sent("s", Content(AVRO, ' "long"')), 5),
        (Sent("s", Content(AVRO, ' "long"'), version=LATEST), 5),
        (Sent("s", Content(AVRO, ' "long"'), version=5), 5),
        # As it was sent it equals version 2, but it would inherit the owner of the latest version.
        (Sent("owned", Content(AVRO, ' "int"')), 1),
        (Sent("s", FLOAT, force=True), 6),
        (Sent("s", INT, version=LATEST, force=True), 6),
    ],
)
def test_a_registration_returns_the_version_that_has_the_schema(view: View, sent: Sent, number: int) -> None:
    put(view, "owned", 1, 1, INT)
    put(view, "owned", 2, 4, OWNED)
    assert decide_register(view, 0, sent=sent, terms=Terms()).result.number == number


@pytest.mark.parametrize(
    ("sent", "number"),
    [
        # Without a number, an import may be any version that has its id.
        (Sent("s", INT, schema_id=1), 2),
        (Sent("s", INT, version=LATEST, schema_id=1), 2),
        (Sent("s", INT, version=1, schema_id=1), 1),
        (Sent("s", INT, version=7, schema_id=1), 7),
        (Sent("s", FLOAT, schema_id=3), 6),
    ],
)
def test_an_import_returns_the_version_that_has_the_schema(view: View, sent: Sent, number: int) -> None:
    assert decide_register(with_mode(view, "IMPORT"), 0, sent=sent, terms=Terms()).result.number == number


def test_a_number_out_of_turn_is_refused_even_if_a_version_has_the_schema(view: View) -> None:
    with pytest.raises(ApiError) as refused:
        decide_register(view, 0, sent=Sent("s", LONG, version=-7), terms=Terms())
    assert refused.value.kind is errors.VERSION_OUT_OF_TURN


@pytest.mark.parametrize(
    ("sent", "include_deleted", "found"),
    [
        (Sent("s", INT, version=1), False, ("s", 2)),
        (Sent("s", INT, schema_id=4), False, ("s", 2)),
        (Sent("s", FLOAT), False, None),
        (Sent("s", FLOAT), True, ("s", 3)),
        (Sent("other", INT), False, (":.ctx:other", 1)),
        (Sent("s", Content(AVRO, " ")), False, None),
        # With the owner of the latest version; a number that is required is not inherited.
        (Sent("owned", INT, version=7), False, ("owned", 1)),
    ],
)
def test_a_look_up(view: View, sent: Sent, include_deleted: bool, found: tuple[str, int] | None) -> None:
    put(view, ":.ctx:other", 1, 1, INT)
    put(view, "owned", 1, 4, OWNED)
    key = Key(records.CONTEXT, ".ctx")
    view.apply_record(records.Record(records.encode_key(key), records.encode_context(".ctx"), 0))
    version = look_up(view, sent, Terms(), include_deleted=include_deleted)
    assert (None if version is None else (version.subject, version.number)) == found
