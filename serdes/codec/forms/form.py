"""The decoded forms of a datum: Python data, and Avro JSON with tagged or plain unions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

from serdes.codec.forms.branch import Choose, data_chooser, first_chooser, plain_chooser, tag_chooser
from serdes.codec.forms.check import DATUM, JSON, Check
from serdes.codec.forms.records import Records
from serdes.codec.logical import Convert, preparer, presenter
from serdes.codec.resolve.plan import Plan
from serdes.codec.schema import Node


def by_logical_type(plan: Plan) -> Convert | None:
    """The conversion to Python's value of the writer's logical type, if it has one."""
    return presenter(plan.node) if plan.node.logical else None


def as_it_is(_: Plan) -> Convert | None:
    """No conversion: the stored value, promoted to the reader's type."""
    return None


def to_stored(node: Node) -> Convert | None:
    """The conversion of Python's value of a logical type to the stored value, if there is one."""
    return preparer(node) if node.logical else None


def _no_members(_: Node) -> Mapping[str, str]:
    return MappingProxyType({})


class Form(NamedTuple):
    """One form, for encoding and decoding.

    Attributes:
        checks: The checks of values before they are encoded, by kind.
        chooser: Makes the function that chooses the branch of a union's value.
        json: Whether values are JSON: bytes as texts.
        texts: Whether JSON has logical types as texts that people read; else as they are stored.
        tagged: Whether a union's value is an object with its branch's name as the key.
        defaults: Whether a missing field gets its default.
        nulls: Whether a missing nullable field without a default becomes null.
        closed: Whether a record's unknown fields are an error.
        record_names: Whether a record of a union is decoded to a pair of its name and itself.
        present: Makes the function that converts, and promotes, the stored value of a plan without parts. None if the
            stored value is only promoted.
        prepare: Makes the function that converts a value to the stored value; None if values are stored as they are.
        records: The classes of records, if records are instances of generated classes; else they are dicts.
        branch_names: Whether any value of a union is decoded to a pair of its branch's name and itself, if the union
            has several branches besides null.
        members: The keys of the object that represents a union's value, by branch: the value is under its branch's key,
            and the other keys are None. If empty, the value stands alone or under its tag.
    """

    checks: Mapping[str, Check]
    chooser: Callable[[Node], Choose]
    json: bool
    tagged: bool
    defaults: bool
    closed: bool
    nulls: bool = False
    record_names: bool = False
    present: Callable[[Plan], Convert | None] = by_logical_type
    members: Callable[[Node], Mapping[str, str]] = _no_members
    texts: bool = False
    prepare: Callable[[Node], Convert | None] = to_stored
    records: Records | None = None
    branch_names: bool = False

    def names_branch(self, union: Node, tag: str | None) -> bool:
        """Whether a union's value is decoded to a pair of its branch's name and itself; the name is None for null."""
        return self.branch_names and tag is not None and sum(branch.kind != "null" for branch in union.branches) > 1

    def keys(self, union: Node, tag: str | None) -> tuple[tuple[str, ...], str] | None:
        """The keys of the object that represents a union's value, and the value's key; None if there is no such object.

        Args:
            union: The reader's union.
            tag: The branch's name, as in a plan.
        """
        if tag is None:
            return None
        if self.tagged:
            return (tag,), tag
        members = self.members(union)
        return (tuple(members.values()), members[tag]) if members else None


DATA = Form(DATUM, data_chooser, json=False, tagged=False, defaults=True, closed=False, nulls=True)
#: Defaults in a schema are JSON without tags; fields that a default record lacks get their own defaults.
DEFAULT = Form(JSON, first_chooser, json=True, tagged=False, defaults=True, closed=False, present=as_it_is)


def data_form(*, strict: bool, strict_allow_default: bool, record_names: bool) -> Form:
    """Python data; `strict` and `strict_allow_default` mean the same as in fastavro's writer."""
    if not strict and not strict_allow_default:
        return DATA._replace(record_names=record_names)
    return DATA._replace(
        chooser=partial(data_chooser, nulls=not strict),
        defaults=not strict,
        closed=True,
        nulls=False,
        record_names=record_names,
    )


def record_form(form: Form, records: Records) -> Form:
    """Python data with generated classes for records, enumerations and fixed types."""
    return form._replace(
        chooser=records.chooser,
        present=records.present,
        prepare=records.prepare,
        records=records,
        record_names=False,
        branch_names=False,
    )


def json_form(*, plain: bool, defaults: bool) -> Form:
    """Avro JSON: with tagged unions as in Java's Avro, or plain ones; missing fields are refused or defaulted."""
    chooser = partial(plain_chooser, defaults=defaults) if plain else tag_chooser
    return Form(JSON, chooser, json=True, tagged=not plain, defaults=defaults, closed=True, present=as_it_is)
