"""The reference of a server's settings in Markdown, from its model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from pydantic.fields import FieldInfo

from magicbyte.kit.environment import variable_of
from magicbyte.kit.settings.property_words import BYTES, MILLISECONDS, kind_of, words
from magicbyte.kit.settings.server import ServerSettings

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
