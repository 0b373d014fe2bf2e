"""The forms a datum takes beside its bytes: Python data, and Avro JSON with tagged or plain unions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

from serdes.codec.branch import Choose, data_chooser, first_chooser, plain_chooser, tag_chooser
from serdes.codec.check import DATUM, JSON, Check
from serdes.codec.schema import Node


class Form(NamedTuple):
    """One form, in and out.

    Attributes:
        checks: What a value must be to be stored, by kind.
        chooser: Makes the function that finds the branch of a union's value.
        json: Whether values are JSON: bytes as texts, logical types as they are stored.
        tagged: Whether a union's value is shown under its branch's name.
        defaults: Whether a missing field takes its default.
        nulls: Whether a missing field without a default that may be null is null.
        closed: Whether a record's unknown fields are an error.
        record_names: Whether a record of a union is shown as a pair of its name and itself.
    """

    checks: Mapping[str, Check]
    chooser: Callable[[Node], Choose]
    json: bool
    tagged: bool
    defaults: bool
    closed: bool
    nulls: bool = False
    record_names: bool = False


DATA = Form(DATUM, data_chooser, json=False, tagged=False, defaults=True, closed=False, nulls=True)
#: Defaults in a schema are JSON without tags; what a default record leaves out has defaults of its own.
DEFAULT = Form(JSON, first_chooser, json=True, tagged=False, defaults=True, closed=False)


def data_form(*, strict: bool, strict_allow_default: bool, record_names: bool) -> Form:
    """Python data; strict as fastavro's writer is by the options of these names."""
    if not strict and not strict_allow_default:
        return DATA._replace(record_names=record_names)
    return DATA._replace(
        chooser=partial(data_chooser, nulls=not strict),
        defaults=not strict,
        closed=True,
        nulls=False,
        record_names=record_names,
    )


def json_form(*, plain: bool, defaults: bool) -> Form:
    """Avro JSON: tagged unions as Java's Avro writes them, or plain ones; missing fields refused or defaulted."""
    chooser = partial(plain_chooser, defaults=defaults) if plain else tag_chooser
    return Form(JSON, chooser, json=True, tagged=not plain, defaults=defaults, closed=True)
