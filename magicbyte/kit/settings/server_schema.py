"""The JSON Schema of a server's properties, from its model."""

from __future__ import annotations

from typing import Any, Literal, get_args, get_origin

from pydantic.fields import FieldInfo

from magicbyte.kit.settings.kinds import choice
from magicbyte.kit.settings.patterns import INTEGER, NUMBER, texts, words
from magicbyte.kit.settings.properties_schema import Schema, any_text, described, document, either, obsolete
from magicbyte.kit.settings.property_words import bound, kind_of
from magicbyte.kit.settings.property_words import words as words_of
from magicbyte.kit.settings.server import ServerSettings
from magicbyte.kit.settings.server_reference import default_words, own_properties

#: The texts that pydantic reads as truth values.
_TRUTH = words("true", "false", "t", "f", "yes", "no", "y", "n", "on", "off", "1", "0")
#: Numbers and texts of each type; pydantic reads `5.0` as a whole number, too.
_NUMBERS = {int: ("integer", rf"{INTEGER}|\s*[+-]?\d[\d_]*\.0*\s*"), float: ("number", NUMBER)}
_BOUNDS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum"}
#: A protection that is not asked for.
_OFF = either({"const": False}, texts(rf"\s*(?:{words('false', 'none', 'own')})?\s*"))


def server_schema(settings: type[ServerSettings], title: str) -> Schema:
    """The schema of all properties of a server; it refuses names that the server only warns of."""
    model = {field.alias: field for field in settings.model_fields.values() if field.alias}
    properties = {name: property_schema(field) for name, field in model.items()}
    for old, new in settings.older_names().items():
        properties[old] = obsolete(f"Another name of {new}.", value_schema(model[new]))
    for name, text in settings.translated().items():
        properties[name] = obsolete(text)
    for name, reason in settings.without_effect().items():
        properties[name] = obsolete(f"Without effect: {reason}.")
    for name, reason in settings.not_kept().items():
        properties[name] = obsolete(f"Refused unless it is off: {reason}.", _OFF)
    return document(title, properties, settings.open_prefixes())


def own_properties_schema(settings: type[ServerSettings]) -> dict[str, Schema]:
    """The schemas of the properties that a class itself adds, by name."""
    return {name: property_schema(field) for name, field in own_properties(settings)}


def property_schema(field: FieldInfo) -> Schema:
    """The schema of a property, with its description and default."""
    value = field.get_default(call_default_factory=True, validated_data={})
    tells = default_words(field).startswith("`") and isinstance(value, str | int | float)
    return described(value_schema(field), field.description or "", words_of(field), value if tells else None)


def value_schema(field: FieldInfo) -> Schema:
    """The schema of a property's values."""
    kind, takes = kind_of(field)
    if takes is not None and takes.schema is not None:
        return either(takes.schema)
    if get_origin(kind) is Literal:
        return either(choice(*map(str, get_args(kind))).schema)
    if kind is bool:
        return either({"type": "boolean"}, {"enum": [0, 1]}, texts(_TRUTH))
    if kind in _NUMBERS:
        name, pattern = _NUMBERS[kind]
        bounds = {keyword: bound(field, limit) for limit, keyword in _BOUNDS.items() if bound(field, limit) is not None}
        return either({"type": name, **bounds}, texts(pattern))
    lengths = {"minLength": bound(field, "min_length"), "maxLength": bound(field, "max_length")}
    given: dict[str, Any] = {keyword: length for keyword, length in lengths.items() if length is not None}
    return either({**any_text(), **given}) if given else any_text()
