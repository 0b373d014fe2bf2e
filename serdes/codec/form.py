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
        defaults: Whether a missing field takes its default; in data one that may be null is null, too.
        closed: Whether a record's unknown fields are an error.
    """

    checks: Mapping[str, Check]
    chooser: Callable[[Node], Choose]
    json: bool
    tagged: bool
    defaults: bool
    closed: bool


DATA = Form(DATUM, data_chooser, json=False, tagged=False, defaults=True, closed=False)
#: Defaults in a schema are JSON without tags; what a default record leaves out has defaults of its own.
DEFAULT = Form(JSON, first_chooser, json=True, tagged=False, defaults=True, closed=False)


def json_form(*, plain: bool, defaults: bool) -> Form:
    """Avro JSON: tagged unions as Java's Avro writes them, or plain ones; missing fields refused or defaulted."""
    chooser = partial(plain_chooser, defaults=defaults) if plain else tag_chooser
    return Form(JSON, chooser, json=True, tagged=not plain, defaults=defaults, closed=True)
