"""Instances of generated JSON Schema classes to and from parsed JSON, by the annotations of their fields."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable, Sequence
from enum import Enum
from functools import lru_cache
from typing import Any, NamedTuple

from serdes.error import DatumMismatch, PayloadError
from serdes.records.table import Bound, classes_of, is_record_class
from serdes.records.values import UNSET, Unset

Convert = Callable[[Any], Any]
#: As `to_dict` and `from_dict` of serializers: takes a value and the message's context.
InContext = Callable[[Any, Any], Any]
_PLAIN = frozenset({str, int, float, bool, type(None)})
_ABSENT = object()


class Unreadable(ValueError):
    """JSON that does not fit a class, or an object that is no JSON."""


def to_json(value: Any) -> Any:
    """The JSON of an instance: absent optional properties are left out.

    Raises:
        Unreadable: A required property is UNSET, or `extra` has a property that the class names.
    """
    kind = type(value)
    if kind in _PLAIN:
        return value
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    if isinstance(value, dict):
        return {key: to_json(item) for key, item in value.items()}
    if dataclasses.is_dataclass(kind) and is_record_class(kind):
        return _writer(kind)(value)
    if value is UNSET:
        raise Unreadable("UNSET stands for an optional property alone")
    return value.value if isinstance(value, Enum) else value


@lru_cache(maxsize=1000)
def _writer(cls: type) -> Convert:
    bound = classes_of(cls).bound(cls)
    absent = {
        member.name: member.default
        for member in dataclasses.fields(cls)
        if member.default is None or member.default is UNSET
    }
    fields = [(attribute, name, absent.get(attribute, _ABSENT)) for name, attribute in bound.attributes.items()]
    extra = bound.extra

    def write(instance: Any) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for attribute, name, missing in fields:
            value = getattr(instance, attribute)
            if value is not missing:
                out[name] = value if type(value) in _PLAIN else to_json(value)
        if extra is not None:
            for name, value in getattr(instance, extra).items():
                if name in bound.attributes:
                    raise Unreadable(f"{cls.__name__}.{extra} has {name!r:.80}, which is {bound.attributes[name]}")
                out[name] = to_json(value)
        return out

    return write


@lru_cache(maxsize=1000)
def reader(cls: type) -> Convert:
    """The function that makes an instance of a class from parsed JSON; it raises Unreadable."""
    return _Readers().record(cls).convert


def data_of(cls: type, to_dict: InContext | None) -> InContext:
    """The `to_dict` of a serializer of instances of a class: rules and the validation see JSON by the schema's names.

    Args:
        cls: The class.
        to_dict: The caller's, which returns an instance; None if the serializer gets instances.
    """

    def to_data(value: Any, ctx: Any) -> Any:
        instance = value if to_dict is None else to_dict(value, ctx)
        if not isinstance(instance, cls):
            raise DatumMismatch("$", type(instance).__name__, cls.__name__)
        try:
            return to_json(instance)
        except (Unreadable, RecursionError) as error:
            raise DatumMismatch("$", cls.__name__, f"its schema ({error})") from None

    return to_data


def instances_of(cls: type, from_dict: InContext | None) -> InContext:
    """The `from_dict` of a deserializer of instances of a class; the caller's takes such an instance."""
    make = reader(cls)

    def from_data(datum: Any, ctx: Any) -> Any:
        try:
            instance = make(datum)
        except (Unreadable, RecursionError) as error:
            raise PayloadError(str(error)) from None
        return instance if from_dict is None else from_dict(instance, ctx)

    return from_data


class _Reader(NamedTuple):
    """The reader of values of one annotation.

    Attributes:
        fits: Whether a value may be of this annotation; records are told by their required and constant properties.
        convert: Makes Python's value.
        is_same: Whether Python's value is the value itself.
        score: How many of a value's properties the annotation names, if it is a record.
    """

    fits: Callable[[Any], bool]
    convert: Convert
    is_same: bool = False
    score: Callable[[Any], int] = lambda _: 0


class _Later:
    """A reader that is not made yet: that of a class in its own fields."""

    reader: _Reader

    def fits(self, value: Any) -> bool:
        return self.reader.fits(value)

    def convert(self, value: Any) -> Any:
        return self.reader.convert(value)

    def score(self, value: Any) -> int:
        return self.reader.score(value)


def _same(fits: Callable[[Any], bool]) -> _Reader:
    return _Reader(fits, lambda value: value, is_same=True)


_READERS: dict[Any, _Reader] = {
    Any: _same(lambda _: True),
    object: _same(lambda _: True),
    type(None): _same(lambda value: value is None),
    bool: _same(lambda value: isinstance(value, bool)),
    str: _same(lambda value: isinstance(value, str)),
    int: _same(
        lambda value: (
            not isinstance(value, bool)
            and (isinstance(value, int) or (isinstance(value, float) and value.is_integer()))
        )
    ),
    float: _same(lambda value: isinstance(value, int | float) and not isinstance(value, bool)),
}


class _Readers:
    """The readers made so far, so that a recursive class refers to its own."""

    def __init__(self) -> None:
        self._records: dict[type, _Reader] = {}

    def of(self, hint: Any) -> _Reader:  # noqa: PLR0911  # one case for each form of annotation
        origin = typing.get_origin(hint)
        if origin is typing.Annotated:
            return self.of(typing.get_args(hint)[0])
        if origin is typing.Literal:
            return _literal(typing.get_args(hint))
        if origin in (typing.Union, types.UnionType):
            members = [member for member in typing.get_args(hint) if member is not Unset]
            return self.union([self.of(member) for member in members])
        if origin is list:
            return self.items(self.of(typing.get_args(hint)[0]))
        if origin is dict:
            return self.values(self.of(typing.get_args(hint)[1]))
        if isinstance(hint, type) and issubclass(hint, Enum):
            symbols = {member.value: member for member in hint}
            return _Reader(
                lambda value: isinstance(value, str) and value in symbols, lambda value: _member(hint, value)
            )
        if is_record_class(hint):
            return self.record(hint)
        return _READERS.get(hint, _READERS[Any])

    def union(self, members: Sequence[_Reader]) -> _Reader:
        def fits(value: Any) -> bool:
            return any(member.fits(value) for member in members)

        if len(members) == 1:
            return members[0]
        if all(member.is_same for member in members):
            return _same(fits)

        def convert(value: Any) -> Any:
            fitting = [member for member in members if member.fits(value)]
            if not fitting:
                raise Unreadable(f"{_kind(value)} fits none of the {len(members)} types of its union")
            return max(fitting, key=lambda member: member.score(value)).convert(value)

        return _Reader(fits, convert)

    def items(self, item: _Reader) -> _Reader:
        def fits(value: Any) -> bool:
            return isinstance(value, list) and all(map(item.fits, value))

        if item.is_same:
            return _same(fits)
        return _Reader(fits, lambda value: [item.convert(part) for part in _checked(value, list)])

    def values(self, item: _Reader) -> _Reader:
        def fits(value: Any) -> bool:
            return isinstance(value, dict) and all(map(item.fits, value.values()))

        if item.is_same:
            return _same(fits)
        return _Reader(fits, lambda value: {key: item.convert(part) for key, part in _checked(value, dict).items()})

    def record(self, cls: type) -> _Reader:
        made = self._records.get(cls)
        if made is None:
            later = _Later()
            made = self._records[cls] = _Reader(later.fits, later.convert, score=later.score)
            later.reader = self._record(cls, classes_of(cls).bound(cls))
        return made

    def _record(self, cls: type, bound: Bound) -> _Reader:
        hints = typing.get_type_hints(cls, include_extras=True)
        members = {member.name: member for member in dataclasses.fields(cls)}
        readers = {name: self.of(hints[attribute]) for name, attribute in bound.attributes.items()}
        required = frozenset(name for name, attribute in bound.attributes.items() if _is_required(members[attribute]))
        constant = {
            name: readers[name]
            for name, attribute in bound.attributes.items()
            if typing.get_origin(hints[attribute]) is typing.Literal
        }
        fields = [
            (attribute, name, None if readers[name].is_same else readers[name].convert)
            for name, attribute in bound.attributes.items()
        ]
        rest = None if bound.extra is None else self.values(self.of(typing.get_args(hints[bound.extra])[1]))

        def fits(value: Any) -> bool:
            return (
                isinstance(value, dict)
                and required <= value.keys()
                and all(name not in value or member.fits(value[name]) for name, member in constant.items())
            )

        def convert(value: Any) -> Any:
            given_values: dict[str, Any] = _checked(value, dict)
            values: dict[str, Any] = {}
            for attribute, name, inner in fields:
                given = given_values.get(name, _ABSENT)
                if given is not _ABSENT:
                    values[attribute] = given if inner is None else inner(given)
                elif name in required:
                    raise Unreadable(f"the property {name!r:.80} of {cls.__name__} is missing")
            if rest is not None:
                others = {name: given for name, given in given_values.items() if name not in bound.attributes}
                values[str(bound.extra)] = rest.convert(others)
            return cls(**values)

        return _Reader(fits, convert, score=lambda value: len(bound.attributes.keys() & value.keys()))


def _is_required(member: dataclasses.Field[Any]) -> bool:
    return member.default is dataclasses.MISSING and member.default_factory is dataclasses.MISSING


def _literal(values: Sequence[Any]) -> _Reader:
    accepted = [(type(value), value) for value in values]
    return _same(lambda value: (type(value), value) in accepted)


def _member(cls: type[Enum], value: Any) -> Any:
    try:
        return cls(value)
    except ValueError:
        raise Unreadable(f"{_kind(value)} is no member of {cls.__name__}") from None


def _checked(value: Any, kind: type) -> Any:
    if not isinstance(value, kind):
        raise Unreadable(f"{_kind(value)} where the class has an {'object' if kind is dict else 'array'}")
    return value


def _kind(value: Any) -> str:
    return f"a value of type {type(value).__name__}"
