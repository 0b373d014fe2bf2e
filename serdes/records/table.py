"""The table at the end of a generated module, and the classes that belong to one record."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property, lru_cache
from types import ModuleType
from typing import Any

from serdes.error import ConfigError


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """The declarations of a generated module about its classes.

    Attributes:
        schema_type: AVRO or JSON.
        types: The module's classes by full name.
        names: Class -> attribute -> the schema's name of the field, for attributes with another name.
        extra: Class -> the attribute with the properties that a JSON Schema does not name.
        modules: The generated modules whose classes this one's classes hold.
    """

    schema_type: str
    types: Mapping[str, type]
    names: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    extra: Mapping[str, str] = field(default_factory=dict)
    modules: tuple[ModuleType, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Bound:
    """A record's class.

    Attributes:
        cls: The class.
        attributes: The attributes by the schema's names of the fields.
        extra: The attribute with all other properties, if there is one.
        stores: Whether an instance may be made by storing its attributes, without a call of `__init__`.
        twin: Of a frozen class, a class with the same slots that can be changed: an instance of it becomes one of the
            class once its attributes are stored.
    """

    cls: type
    attributes: Mapping[str, str]
    extra: str | None = None
    stores: bool = False
    twin: type | None = None


@dataclass(frozen=True, eq=False)
class Classes:
    """A record's class, and those of all types that its schema reaches.

    Attributes:
        root: The class.
        schema_type: AVRO or JSON.
        by_name: The classes by full name.
    """

    root: type
    schema_type: str
    by_name: Mapping[str, type]
    _bound: dict[type, Bound] = field(default_factory=dict)

    @cached_property
    def by_last_name(self) -> Mapping[str, type | None]:
        """The classes by their names without namespace, and by their aliases; None if several have one."""
        found: dict[str, type | None] = {}
        for name, cls in self.by_name.items():
            aliases = getattr(cls, "__aliases__", ())
            for other in {name.rpartition(".")[2], *aliases}:
                found[other] = cls if found.get(other, cls) is cls else None
        return found

    def of(self, name: str) -> type | None:
        """The class of a type: by its full name, else by its alias or its name without namespace."""
        return self.by_name.get(name) or self.by_last_name.get(name) or self.by_last_name.get(name.rpartition(".")[2])

    def bound(self, cls: type) -> Bound:
        """Return the binding that reads and makes instances of a dataclass."""
        if cls not in self._bound:
            self._bound[cls] = _bound(cls)
        return self._bound[cls]


def is_record_class(value: object) -> bool:
    """Whether a value is a generated class, or a subclass of one."""
    return isinstance(value, type) and isinstance(getattr(value, "__schema__", None), str)


def record_class(value: object) -> type | None:
    """The value, if it is a generated class or a subclass of one."""
    return value if isinstance(value, type) and is_record_class(value) else None


def checked_classes(cls: type, schema_type: str) -> Classes:
    """The classes of a generated class for a serializer.

    Raises:
        ConfigError: The class is of another schema type, or its module has no table.
    """
    classes = classes_of(cls)
    if classes.schema_type != schema_type:
        raise ConfigError("schema_str", f"{cls.__name__} is a class of a schema of type {classes.schema_type}")
    return classes


@lru_cache(maxsize=1000)
def classes_of(cls: type) -> Classes:
    """The classes of a generated class; a subclass of one stands for the same schema.

    Raises:
        ConfigError: The class's module has no table of `magicbyte generate`.
    """
    generated, table = _generated(cls)
    by_name: dict[str, type] = {}
    for reached in _tables(table):
        by_name.update(reached.types)
    by_name = {name: cls if held is generated else held for name, held in by_name.items()}
    return Classes(cls, table.schema_type, by_name)


def _generated(cls: type) -> tuple[type, Table]:
    for base in cls.__mro__:
        if "__schema__" in vars(base):
            table = getattr(sys.modules.get(base.__module__), "__records__", None)
            if isinstance(table, Table):
                return base, table
            break
    raise ConfigError("schema_str", f"{cls.__module__}.{cls.__name__} is not in a module of `magicbyte generate`")


def _tables(first: Table) -> Iterator[Table]:
    seen, todo = {id(first)}, [first]
    while todo:
        table = todo.pop()
        yield table
        for module in table.modules:
            other = getattr(module, "__records__", None)
            if isinstance(other, Table) and id(other) not in seen:
                seen.add(id(other))
                todo.append(other)


def _bound(cls: type) -> Bound:
    generated, table = _generated(cls)
    names = table.names.get(generated.__name__, {})
    extra = table.extra.get(generated.__name__)
    attributes = {
        names.get(member.name, member.name): member.name
        for member in dataclasses.fields(cls)
        if member.init and member.name != extra
    }
    # Codecs write these names into the source text of functions.
    if not all(name.isidentifier() for name in attributes.values()):
        raise ConfigError("schema_str", f"{cls.__name__} has fields that are not Python names")
    stores, twin = _stores(cls, generated), None
    if stores and _is_frozen(generated):
        twin = _twin(cls)
        stores = twin is not None
    return Bound(cls, attributes, extra, stores, twin)


def _is_frozen(generated: type) -> bool:
    return bool(vars(generated)["__dataclass_params__"].frozen)


def _twin(cls: type) -> type | None:
    """A class whose instances may become those of a frozen class; None if the class has another layout."""
    twin: type = type(f"_{cls.__name__}", (), {"__slots__": cls.__dict__.get("__slots__", ())})
    instance: Any = object.__new__(twin)
    try:
        instance.__class__ = cls
    except TypeError:
        return None
    return twin


def _stores(cls: Any, generated: Any) -> bool:
    """Whether nothing of a user's runs when an instance is made."""
    return (
        not hasattr(cls, "__post_init__")
        and cls.__init__ is generated.__init__
        and cls.__new__ is object.__new__
        and cls.__setattr__ is generated.__setattr__
        and "__slots__" in vars(generated)
        and not issubclass(cls, Enum)
    )
