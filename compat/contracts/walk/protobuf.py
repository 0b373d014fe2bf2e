"""Walks over Protobuf messages: names and tags come from the schema; a class's fields are paired with it by number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from compat.contracts.model import Metadata
from compat.contracts.tags import TagPatterns
from compat.contracts.walk.leaf import DeclaredField, Leaf, LeafFailed, Select, Step, Visit, Walk
from compat.contracts.walk.protobuf_fields import (
    InlineTags,
    declared_type,
    leaf_type,
    logical_type,
    messages_of,
    record_type,
)
from compat.contracts.walk.protobuf_steps import FieldStep, field_step, message_step
from compat.contracts.walk.steps import Forward, fixed_point, unchanged, whole_message
from compat.protobuf.schema import ProtobufSchema, parse
from compat.schema import Dependencies, SchemaText


class ProtobufWalk:
    """The fields of a Protobuf schema, and the walks over its messages; see FieldWalk.

    Args:
        schema: The schema.
        metadata: The metadata with tags by full names.

    Raises:
        InvalidSchema: The schema does not link.
    """

    def __init__(self, schema: ProtobufSchema, metadata: Metadata | None) -> None:
        file, _ = schema.descriptor()
        self._messages = messages_of(file.message_types_by_name.values())
        patterns, inline = TagPatterns(metadata), InlineTags(schema)
        self._leaf_of: dict[str, Leaf] = {}
        fields: list[DeclaredField] = []
        for message in self._messages.values():
            for field in message.fields:
                tags = inline.of(field) | patterns.of(field.full_name)
                record = record_type(field)
                fields.append(
                    DeclaredField(field.full_name, field.name, declared_type(field), tags, record is not None)
                )
                if record is None:
                    self._leaf_of[field.full_name] = Leaf(
                        field.full_name, field.name, leaf_type(field), tags, logical_type(field)
                    )
        self.fields = tuple(fields)
        self.leaves = tuple(self._leaf_of.values())

    def compile(self, select: Select) -> Walk | None:
        """The walk that visits the selected leaves of a message; None if there is none. See FieldWalk.

        The messages are those of the runtime: generated or dynamic classes, whose fields may have other names.
        """
        visits = {name: visit for name, leaf in self._leaf_of.items() if (visit := select(leaf)) is not None}
        return whole_message(_Steps(self._messages, visits).into_message) if visits else None


def walk_of(schema: SchemaText, dependencies: Dependencies, metadata: Metadata | None) -> ProtobufWalk:
    """The fields of a schema; see `field_walk`."""
    return ProtobufWalk(parse(schema, dependencies), metadata)


class _Steps:
    """The steps into messages, made when a class is first met."""

    def __init__(self, messages: Mapping[str, Descriptor], visits: Mapping[str, Visit]) -> None:
        self._messages = messages
        self._visits = visits
        self._walked = self._with_leaves()
        self._made: dict[Any, Forward] = {}
        self._outermost: dict[Any, Step] = {}

    def _with_leaves(self) -> set[str]:
        """The full names of the messages with a selected leaf in them, however deep."""
        users: dict[str, set[str]] = {name: set() for name in self._messages}
        direct: set[str] = set()
        for name, message in self._messages.items():
            for field in message.fields:
                record = record_type(field)
                if record is not None:
                    users[record.full_name].add(name)
                elif field.full_name in self._visits:
                    direct.add(name)
        return fixed_point(direct, lambda name: users[name])

    def into_message(self, message: Any, _: Any) -> Any:
        """The step into the outermost message, whatever its class."""
        described = getattr(message, "DESCRIPTOR", None)
        step = self._outermost.get(described)
        if step is None:
            if not isinstance(described, Descriptor):
                raise LeafFailed(f"a Protobuf message is expected, not {type(message).__name__}")
            registered = self._messages.get(described.full_name)
            if registered is None:
                raise LeafFailed(f"the schema has no message {described.full_name}")
            step = self._outermost[described] = self._step(registered, described) or unchanged
        return step(message, message)

    def _step(self, registered: Descriptor, described: Descriptor) -> Step | None:
        if registered.full_name not in self._walked:
            return None
        key = (registered.full_name, described)
        made = self._made.get(key)
        if made is None:
            made = self._made[key] = Forward()
            pairs = [(registered.fields_by_number.get(field.number), field) for field in described.fields]
            steps = [self._field(own, field) for own, field in pairs if own is not None]
            made.step = message_step([step for step in steps if step is not None])
        return made

    def _field(self, registered: FieldDescriptor, field: FieldDescriptor) -> FieldStep | None:
        registered_record, record = record_type(registered), record_type(field)
        if registered_record is None:
            step: Step | None = self._visits.get(registered.full_name)
            if step is not None and record is not None:
                raise LeafFailed(f"the field {field.full_name} of the class is a message, and a value in the schema")
        else:
            step = self._step(registered_record, record) if record is not None else None
            if record is None and registered_record.full_name in self._walked:
                raise LeafFailed(f"the field {field.full_name} of the class is a value, and a message in the schema")
        return None if step is None else field_step(registered.name, field, step)
