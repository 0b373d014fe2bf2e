"""Generated modules as values: their classes and fields, before they are text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from compat.schema import Dependencies
from magicbyte.generate.expressions import Call, ClassName, Display, Expression, Import, Lambda, Subscript, Text, leaves
from magicbyte.generate.literals import text_literal

FIELD = Import("dataclasses", "field")
RUNTIME = "serdes.records"
TEXT = Import("builtins", "str")


@dataclass(frozen=True, slots=True)
class Source:
    """A schema to generate classes from.

    Attributes:
        schema_type: AVRO, JSON or PROTOBUF.
        text: The schema.
        dependencies: The schemas that it refers to, in dependency order.
        origin: What it is, for the head of a module: a subject and its version, or a file.
        stem: The name of its module, if the schema has no namespace.
        path: The path of a file; for Protobuf, that of an import.
        references: The references of the schema: name, subject and version.
        is_chosen: Whether the schema itself was asked for; else it is a reference of one, and may have no class.
    """

    schema_type: str
    text: str
    dependencies: Dependencies = ()
    origin: str = ""
    stem: str = "schema"
    path: str = ""
    references: tuple[tuple[str, str, int], ...] = ()
    is_chosen: bool = True


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a record.

    Attributes:
        wire: The schema's name of it.
        name: The attribute.
        type: Its type.
        default: Its default, if it has one.
        doc: The schema's description.
    """

    wire: str
    name: str
    type: Expression
    default: Expression | None = None
    doc: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Class:
    """A class of any kind.

    Attributes:
        name: Its Python name.
        full_name: The schema's name of it.
        aliases: Other full names.
        doc: The schema's description.
        schema: The text of its schema.
        references: The references in the text: name, subject and version.
    """

    name: str
    full_name: str
    aliases: tuple[str, ...] = ()
    doc: str | None = None
    schema: str = ""
    references: tuple[tuple[str, str, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordClass(Class):
    """A dataclass; `extra` is the attribute with the properties that the schema does not name."""

    fields: tuple[Field, ...] = ()
    extra: Field | None = None

    @property
    def all_fields(self) -> tuple[Field, ...]:
        """The fields, the extra one last."""
        return self.fields if self.extra is None else (*self.fields, self.extra)


@dataclass(frozen=True, slots=True, kw_only=True)
class EnumClass(Class):
    """An enumeration: its symbols by the names of its members."""

    members: tuple[tuple[str, str], ...] = ()
    default: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedClass(Class):
    """A subclass of bytes with a size."""

    size: int = 0


@dataclass(slots=True)
class Module:
    """A module.

    Attributes:
        key: Its key: other modules' classes mention it by this.
        schema_type: The type of its schemas.
        title: The first line of its docstring.
        name: Its Python name, known once all modules are.
        classes: Its classes.
        origins: The sources of its classes.
    """

    key: str
    schema_type: str
    title: str
    name: str = ""
    classes: list[Class] = field(default_factory=list)
    origins: list[str] = field(default_factory=list)

    def names(self) -> Iterator[str]:
        """All names of classes, fields and members in it."""
        for cls in self.classes:
            yield cls.name
            if isinstance(cls, RecordClass):
                yield from (member.name for member in cls.all_fields)
            elif isinstance(cls, EnumClass):
                yield from (name for name, _ in cls.members)


def literal_type(*texts: Expression) -> Expression:
    """`Literal[..]` of literals."""
    return Subscript(Import("typing", "Literal"), texts)


def text(value: str) -> Text:
    """The literal of a text."""
    return Text(text_literal(value))


def made_by(factory: Expression) -> Expression:
    """A default that each instance makes by a factory."""
    return Call(FIELD, (("default_factory", factory),))


def made_display(display: Display) -> Expression:
    """The default of a list or a dict."""
    builtin = Import("builtins", "list" if display.brackets == "[]" else "dict")
    return made_by(Lambda(display) if display.items else builtin)


def in_class(fields: list[Field], own_module: str) -> tuple[Field, ...]:
    """The fields of a record; one that is named as a class in the types of the same record gets `_`."""
    mentioned = {
        part.name
        for member in fields
        for part in leaves(member.type)
        if isinstance(part, ClassName) and part.module == own_module
    }
    taken = {member.name for member in fields} | mentioned
    made: list[Field] = []
    for member in fields:
        name = member.name
        if name in mentioned:
            while name in taken:
                name += "_"
            taken.add(name)
        made.append(Field(member.wire, name, member.type, member.default, member.doc))
    return tuple(made)
