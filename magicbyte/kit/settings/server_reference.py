"""The reference of a server's settings in Markdown, from its model."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from magicbyte.kit.environment import variable_of
from magicbyte.kit.secret import Secret
from magicbyte.kit.settings.server import BYTES, MILLISECONDS, ServerSettings, Takes

_WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text", Secret: "a secret"}
#: Unit -> greater units, from the greatest on, with their sizes.
_GREATER = {
    BYTES: (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)),
    MILLISECONDS: (("h", 3_600_000), ("min", 60_000)),
}


def server_reference(settings: type[ServerSettings], prefix: str, has: Callable[[str], bool] = lambda _: True) -> str:
    """A table of the properties that a class itself adds.

    Args:
        settings: The class.
        prefix: The beginning of the names of variables, such as `KAFKA_REST_`.
        has: Whether a property is in this table.
    """
    lines = ["| Setting | Takes | Default | |", "|---|---|---|---|"]
    for name, field in own_properties(settings):
        if has(name):
            cells = [
                f"`{name}`<br>`{variable_of(prefix, name)}`",
                words(field),
                default_words(field),
                field.description,
            ]
            lines.append("| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def without_effect(settings: type[ServerSettings]) -> str:
    """A table of the properties that a class itself ignores, each with the reason."""
    rows = [f"| `{name}` | {why} |" for name, why in without_effect_of(settings).items()]
    return "\n".join(["| Without effect | Why |", "|---|---|", *rows]) + "\n"


def without_effect_of(settings: type[ServerSettings]) -> dict[str, str]:
    """The properties that a class itself ignores, each with the reason."""
    inherited = settings.__mro__[1].without_effect()  # type: ignore[attr-defined]  # the class above has it too
    return {name: why for name, why in settings.without_effect().items() if name not in inherited}


def own_properties(settings: type[ServerSettings]) -> Iterator[tuple[str, FieldInfo]]:
    """The properties that a class itself adds, by name."""
    for attribute, field in settings.model_fields.items():
        if attribute in settings.__annotations__ and field.alias:
            yield field.alias, field


def words(field: FieldInfo) -> str:
    """What a property takes."""
    kind, takes = kind_of(field)
    if takes is None and get_origin(kind) is Literal:
        return " or ".join(map(str, get_args(kind)))
    label = takes.words if takes else _WORDS[kind]
    least, most = bound(field, "ge"), bound(field, "le")
    if least is not None and most is not None:
        return f"{label}, from {least} to {most}"
    if most is not None:
        return f"{label}, at most {most}"
    above = bound(field, "gt")
    if above is not None:
        return f"{label}, at least {above + 1}" if kind is int else f"{label}, above {above}"
    length = bound(field, "max_length")
    if length is not None:
        return f"{label} of at most {length} characters"
    return label if least is None else f"{label}, at least {least}"


def default_words(field: FieldInfo) -> str:
    """The default: its value in a file of properties, or words."""
    _, takes = kind_of(field)
    if field.is_required():
        return "required"
    if takes is not None and takes.default:
        return takes.default
    value = field.get_default(call_default_factory=True, validated_data={})
    text = written(value)
    for name, size in _GREATER.get(takes.words, ()) if takes else ():
        if value >= size and value % size == 0:
            return f"`{text}` ({value // size} {name})"
    return f"`{text}`" if text else ""


def written(value: Any) -> str:
    """A value as a file of properties has it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, frozenset | set):
        return ",".join(sorted(value))
    if isinstance(value, tuple | list):
        return ",".join(map(written, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def kind_of(field: FieldInfo) -> tuple[Any, Takes | None]:
    """The type of a property without None, and the words that its annotation has."""
    kind, annotations = annotations_of(field)
    return kind, next((item for item in annotations if isinstance(item, Takes)), None)


def annotations_of(field: FieldInfo) -> tuple[Any, Sequence[Any]]:
    """The type of a property without None, and all of its annotations."""
    kind, metadata = field.annotation, [*field.metadata]
    while True:
        if get_origin(kind) is Annotated:
            kind, *more = get_args(kind)
            metadata += more
        elif get_origin(kind) in (Union, types.UnionType):
            kind = next(part for part in get_args(kind) if part is not type(None))
        else:
            return kind, metadata


def bound(field: FieldInfo, name: str) -> Any:
    """A bound of a property's values, such as `ge`; None without it."""
    return next((getattr(item, name) for item in field.metadata if hasattr(item, name)), None)
