"""Removes extensions, and the options that need them, from a file's tree."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from compat.protobuf.text.nodes import Enum, Field, File, Group, Message, Oneof, Option

#: Options of these extensions are kept: they contain the schema's own metadata.
_KEPT_PREFIX = "confluent."


def without_extensions(file: File) -> File:
    """The tree without `extend`, `extensions` and custom options."""
    return replace(
        file,
        options=_options(file.options),
        messages=tuple(map(_message, file.messages)),
        enums=tuple(map(_enum, file.enums)),
        extends=(),
        services=tuple(
            replace(service, methods=tuple(map(_plain, service.methods)), options=_options(service.options))
            for service in file.services
        ),
    )


def _options(options: tuple[Option, ...]) -> tuple[Option, ...]:
    return tuple(
        option
        for option in options
        if not option.is_custom or option.name[0].name.removeprefix(".").startswith(_KEPT_PREFIX)
    )


def _plain(node: Any) -> Any:
    return replace(node, options=_options(node.options)) if node.options else node


def _message(message: Message) -> Message:
    return replace(
        message,
        fields=_fields(message.fields),
        oneofs=tuple(map(_oneof, message.oneofs)),
        groups=_groups(message.groups),
        messages=tuple(map(_message, message.messages)),
        enums=tuple(map(_enum, message.enums)),
        extends=(),
        extensions=(),
        options=_options(message.options),
    )


def _fields(fields: tuple[Field, ...]) -> tuple[Field, ...]:
    return tuple(map(_plain, fields))


def _groups(groups: tuple[Group, ...]) -> tuple[Group, ...]:
    return tuple(replace(group, message=_message(group.message), options=_options(group.options)) for group in groups)


def _oneof(oneof: Oneof) -> Oneof:
    return replace(oneof, fields=_fields(oneof.fields), groups=_groups(oneof.groups), options=_options(oneof.options))


def _enum(enum: Enum) -> Enum:
    return replace(enum, constants=tuple(map(_plain, enum.constants)), options=_options(enum.options))
