"""A Protobuf schema: parsing, linking and forms of its text."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from google.protobuf import message_factory
from google.protobuf.descriptor import FileDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message as RuntimeMessage

from compat.protobuf.checks.stored import check_new
from compat.protobuf.descriptor.reading import decode, read
from compat.protobuf.descriptor.undescribe import from_descriptor, to_json_name
from compat.protobuf.link.linker import Linked, link, load
from compat.protobuf.link.normalize import normalize
from compat.protobuf.program.library import Library
from compat.protobuf.program.program import Program
from compat.protobuf.program.remarks import DANGLING_REFERENCE, MISSING_IMPORT
from compat.protobuf.program.unit import Unit
from compat.protobuf.program.without_extensions import without_extensions
from compat.protobuf.text.lexer import Layout
from compat.protobuf.text.nodes import Enum, File, Message
from compat.protobuf.text.places import places
from compat.protobuf.text.printer import print_file
from compat.schema import (
    PROTOBUF,
    Dependencies,
    Dependency,
    InvalidSchema,
    Pointer,
    Position,
    SchemaText,
    SchemaWarning,
    shorten,
)

#: The name of the file in descriptors; the text itself has no name.
FILE_NAME = "default"
#: The number of an enum's value.
_NEGATIVE = re.compile("= -[0-9]")


class ProtobufSchema:
    """A `.proto` file and the files it refers to; everything except its tree is computed on first use."""

    def __init__(self, source: str, unit: Unit, dependencies: Mapping[str, str]) -> None:
        self._source = source
        self._unit = unit
        self._dependencies = dependencies

    def __repr__(self) -> str:
        return f"<ProtobufSchema {shorten(self._source)}>"

    @property
    def schema_type(self) -> str:
        """PROTOBUF."""
        return PROTOBUF

    @property
    def source(self) -> str:
        """The text that was parsed, unchanged."""
        return self._source

    @property
    def is_text(self) -> bool:
        """True for `.proto` text, False for a descriptor."""
        return self._unit.text is not None

    @property
    def dependencies(self) -> Dependencies:
        """The schemas that it refers to."""
        return tuple(Dependency(name, text) for name, text in self._dependencies.items())

    @property
    def tree(self) -> File:
        """The parsed text."""
        return self._unit.tree

    @cached_property
    def canonical(self) -> str:
        """The stored text, in the reference's style."""
        return print_file(self.tree)

    @cached_property
    def program(self) -> Program:
        """The file with all its imports.

        Raises:
            InvalidSchema: A file that it refers to is not a schema.
        """
        return load(self._unit, Library(self._dependencies))

    @cached_property
    def linked(self) -> Linked:
        """The file with every name resolved, in a descriptor pool of its own.

        Raises:
            InvalidSchema: protoc would refuse the file, or one that it imports.
        """
        name = FILE_NAME
        while name in self._dependencies:
            name += ".proto"
        return link(self.program, name)

    def descriptor(self) -> tuple[FileDescriptor, DescriptorPool]:
        """The linked file and its pool.

        Raises:
            InvalidSchema: As for `linked`.
        """
        return self.linked.file, self.linked.pool

    @cached_property
    def places(self) -> dict[Pointer, int]:
        """The first token of each declaration; empty if the source is a descriptor."""
        return {} if self._unit.text is None else dict(places(self.tree))

    @cached_property
    def layout(self) -> Layout:
        """The position of each token in the source."""
        return Layout(self._source)

    @property
    def full_name(self) -> str | None:
        """The full name of the first message, or otherwise of the first enum."""
        declared: Sequence[Message | Enum] = self.tree.messages or self.tree.enums
        return self._unit.prefix + declared[0].name if declared else None

    @property
    def top_level_fields(self) -> tuple[str, ...]:
        """The names of the first message's fields."""
        if not self.tree.messages:
            return ()
        first = self.tree.messages[0]
        members = [*first.fields, *first.groups, *(member for oneof in first.oneofs for member in oneof.members)]
        return tuple(member.name for member in sorted(members, key=lambda member: member.at))

    def normalized(self) -> str:
        """The canonical text in a fixed order, with full names.

        Raises:
            InvalidSchema: The name of a type has no target.
        """
        return self._normalized

    @cached_property
    def _normalized(self) -> str:
        return print_file(normalize(self.program))

    def older_text(self) -> str | None:
        """The normalized text with the values of enums by number alone, as the reference prints it; None if equal."""
        if not _NEGATIVE.search(self._normalized):
            return None
        text = print_file(normalize(self.program, zeros_first=False))
        return None if text == self._normalized else text

    def rendered(self, form: str) -> str:
        """The text in another form.

        Args:
            form: `serialized` for the descriptor in base64, `ignore_extensions` for the text without extensions and
                custom options; letter case does not matter, and every other form is the canonical text.

        Raises:
            InvalidSchema: For `serialized`, as for `linked`.
        """
        render = _FORMS.get(form.lower())
        return self.canonical if render is None else render(self)

    def message_indexes(self, full_name: str) -> tuple[int, ...]:
        """The path to a message: its index in the file, then in each enclosing message.

        As in the reference, only messages that the text declares count: not the entries of `map<K, V>` fields, and not
        groups.

        Raises:
            KeyError: The file declares no such message.
        """
        for name, indexes in _indexes(self.tree.messages, self._unit.prefix, ()):
            if name == full_name:
                return indexes
        raise KeyError(full_name)

    def message_name(self, indexes: Sequence[int]) -> str:
        """The full name of the message at a path of indexes.

        Raises:
            IndexError: There is no such message.
        """
        messages = self.tree.messages
        names = []
        for index in indexes:
            if not 0 <= index < len(messages):
                raise IndexError(f"The schema has no message at {list(indexes)}")
            names.append(messages[index].name)
            messages = messages[index].messages
        if not names:
            raise IndexError("The path to a message has at least one index")
        return self._unit.prefix + ".".join(names)

    def message_class(self, full_name: str | None = None) -> type[RuntimeMessage]:
        """The class of a message; without a name, that of the first one.

        Raises:
            InvalidSchema: As for `linked`.
            KeyError: There is no such message.
        """
        name = full_name if full_name is not None else self.message_name((0,))
        descriptor = self.linked.pool.FindMessageTypeByName(name)
        message_class: type[RuntimeMessage] = message_factory.GetMessageClass(descriptor)
        return message_class


def parse(schema: SchemaText, dependencies: Dependencies = (), strict: bool = False) -> ProtobufSchema:  # noqa: FBT001, FBT002 - the contract's order
    """Parse a text.

    Args:
        schema: `.proto` text, or a FileDescriptorProto in base64.
        dependencies: The possible targets of its imports, by import path.
        strict: Whether the file must link, as protoc requires; otherwise only the syntax is checked, so that stored
            schemas can always be read, also those of `checks/stored.py`.

    Raises:
        InvalidSchema: The text is not a schema.
    """
    texts: dict[str, str] = {}
    for dependency in dependencies:
        texts.setdefault(dependency.name, dependency.text)
    tree, is_text = read(schema.text)
    parsed = ProtobufSchema(schema.text, Unit("", tree, schema.text if is_text else None), texts)
    if not is_text:
        custom = _with_custom_options(schema.text, parsed)
        if custom is not None:
            parsed = ProtobufSchema(schema.text, Unit("", custom, None), texts)
    if strict:
        _ = parsed.linked
        check_new(parsed.program.root)
    return parsed


def older_text(schema: Any, normalized: bool) -> str | None:  # noqa: FBT001 - SchemaFormat's
    """Another text under which the same schema may be stored; see SchemaFormat."""
    return schema.older_text() if normalized else None


def edited(schema: Any, text: str) -> ProtobufSchema:
    """A schema with another text and the same references.

    Args:
        schema: A ProtobufSchema.
        text: The other text.

    Raises:
        InvalidSchema: The text is not a schema.
    """
    return parse(SchemaText(PROTOBUF, text), schema.dependencies, strict=True)


def _with_custom_options(text: str, parsed: ProtobufSchema) -> File | None:
    """The tree, parsed again with a class that has the extensions, if the file links and can use any."""
    try:
        if "google/protobuf/descriptor.proto" not in parsed.program.units:
            return None
        pool = parsed.linked.pool
    except InvalidSchema:
        return None
    file_type = pool.FindMessageTypeByName("google.protobuf.FileDescriptorProto")
    descriptor: Any = message_factory.GetMessageClass(file_type)()
    descriptor.ParseFromString(decode(text))
    return from_descriptor(descriptor)


def _indexes(messages: Sequence[Message], prefix: str, path: tuple[int, ...]) -> Iterator[tuple[str, tuple[int, ...]]]:
    for index, message in enumerate(messages):
        name = prefix + message.name
        yield name, (*path, index)
        yield from _indexes(message.messages, name + ".", (*path, index))


def _serialized(schema: ProtobufSchema) -> str:
    descriptor = FileDescriptorProto()
    descriptor.CopyFrom(schema.linked.proto)
    for message in descriptor.message_type:
        _drop_json_names(message)
    for extension in descriptor.extension:
        extension.ClearField("json_name")
    return base64.b64encode(descriptor.SerializeToString(deterministic=True)).decode()


def _drop_json_names(message: Any) -> None:
    """Remove JSON names that follow from the field names, as in compiled code."""
    for field in (*message.field, *message.extension):
        if field.json_name == to_json_name(field.name):
            field.ClearField("json_name")
    for nested in message.nested_type:
        _drop_json_names(nested)


def _ignoring_extensions(schema: ProtobufSchema) -> str:
    return print_file(without_extensions(schema.tree))


_FORMS = {"serialized": _serialized, "ignore_extensions": _ignoring_extensions}


def warnings(schema: Any) -> tuple[SchemaWarning, ...]:
    """The faults in a schema's own text that protoc refuses and the registry accepts, in the order of the text.

    Args:
        schema: A ProtobufSchema.

    Raises:
        InvalidSchema: As for `linked`.
    """
    root = schema.program.root
    remarks = sorted((remark for remark in schema.linked.remarks if remark.unit is root), key=lambda remark: remark.at)
    places = [None if root.text is None else schema.layout.position(remark.at) for remark in remarks]
    return tuple(
        SchemaWarning(remark.rule, remark.message, remark.remedy, place)
        for remark, place in zip(remarks, places, strict=True)
    )


def check_fields(schema: ProtobufSchema) -> None:
    """Check that all files whose types are used are imported, and that all imports have a target.

    Raises:
        InvalidSchema: One of them is missing.
    """
    for remark in schema.linked.remarks:
        if remark.rule in {DANGLING_REFERENCE, MISSING_IMPORT}:
            remark.unit.fail(remark.message, remark.at)


def locate(schema: Any, pointer: Pointer) -> Position | None:
    """The position of a declaration in a schema's text.

    Args:
        schema: A ProtobufSchema.
        pointer: Names of messages and enums from the outside in, then the name of a oneof or the number of a field or
            an enum value; the empty pointer is the package, or the file's beginning.
    """
    at = schema.places.get(pointer)
    return None if at is None else schema.layout.position(at)
