"""Encoders and decoders of JSON with the validation of data."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from compat.schema import Dependencies, SchemaText
from serdes.client.flow import Later
from serdes.json_bytes import dumps
from serdes.message.reading import Decode, Finish, Resolved
from serdes.message.writing import Encoder
from serdes.rules.migrations.json import json_form
from serdes.rules.migrations.migrated import Read
from serdes.rules.migrations.steps import Migration
from serdes.validation.validator import JsonValidator

T = TypeVar("T")


def encoder_of(validator: JsonValidator, to_text: Callable[[Any], bytes], *, is_awaited: bool) -> Encoder:
    """The encoder of data that a validator accepts; with `is_awaited` it returns a Later if the check may be slow."""
    accepts = validator.accepts
    longest = validator.longest

    def encode(datum: Any) -> Any:
        payload = to_text(datum)
        if len(payload) <= longest and accepts(datum):
            return payload

        # Not a nested function: its closure would slow down every datum.
        checked = partial(_checked, validator, datum, payload, payload)
        return Later(checked) if is_awaited else checked()

    return Encoder(encode, covers=validator.covers)


def decoder_of(validator: JsonValidator, loads: Callable[[bytes], Any], *, is_awaited: bool) -> Decode:
    """The decoder of data that a validator accepts; with `is_awaited` it returns a Later if the check may be slow."""
    check = check_of(validator, is_awaited=is_awaited)

    def decode(message: bytes, offset: int) -> Any:
        payload = message[offset:]
        return check(loads(payload), payload)

    return decode


def check_of(validator: JsonValidator, *, is_awaited: bool) -> Callable[[Any, bytes], Any]:
    """Returns a datum that a validator accepts, given the datum and its JSON; with `is_awaited` maybe as a Later."""
    accepts = validator.accepts
    longest = validator.longest

    def check(datum: Any, payload: bytes) -> Any:
        if len(payload) <= longest and accepts(datum):
            return datum
        checked = partial(_checked, validator, datum, payload, datum)
        return Later(checked) if is_awaited else checked()

    return check


def migrated_by(
    make: Callable[[SchemaText, Dependencies], JsonValidator] | None,
    decode: Decode,
    *,
    is_before_rules: bool,
    is_awaited: bool,
) -> Callable[[Resolved, Resolved, Migration], tuple[Read, Finish | None]]:
    """Makes the decoder of data that a migration takes to the reader's schema, and the validation that follows.

    Args:
        make: Makes validators; None if data are not validated.
        decode: The decoder without a validation.
        is_before_rules: Whether data are validated before the domain rules; else after them.
        is_awaited: Whether a check that may be slow returns a Later.
    """

    def migrated(_: Resolved, reader: Resolved, __: Migration) -> tuple[Read, Finish | None]:
        if make is None:
            return json_form(decode), None
        validator = make(*reader)
        if is_before_rules:
            return json_form(decode, lambda datum: validator.check(datum, dumps(datum))), None
        check = check_of(validator, is_awaited=is_awaited)
        return json_form(decode), lambda datum, _, __, ___: check(datum, dumps(datum))

    return migrated


def _checked(validator: JsonValidator, datum: Any, payload: bytes, result: T) -> T:
    validator.check(datum, payload)
    return result


def validators(
    own_schema: SchemaText | None, dialect: str, *, blocks_other_work: bool
) -> Callable[[SchemaText, Dependencies], JsonValidator]:
    """Makes validators; for an own schema without references at once, so that it is refused early if invalid."""
    early: JsonValidator | None = None
    if own_schema is not None and not own_schema.references:
        early = JsonValidator(own_schema.text, (), dialect, blocks_other_work=blocks_other_work)

    def make(schema: SchemaText, dependencies: Dependencies) -> JsonValidator:
        if early is not None and schema == own_schema:
            return early
        return JsonValidator(schema.text, dependencies, dialect, blocks_other_work=blocks_other_work)

    return make
