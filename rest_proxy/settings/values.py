"""The kinds of values that only properties of the REST proxy have, and what the values stand for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from msgspec.structs import replace
from pydantic import AfterValidator, BeforeValidator

from magicbyte.kit.settings.kinds import Scalar, choice
from magicbyte.kit.settings.patterns import java_classes
from magicbyte.kit.settings.property_words import BYTES_A_SECOND, Takes
from rest_proxy.access.endpoints import parse_endpoints
from serdes.message.subject import STRATEGIES

#: Java's strategies by class name, without the package.
SUBJECT_STRATEGIES = {name: strategy for name, strategy in STRATEGIES.items() if name.endswith("Strategy")}
#: Java's classes that write frames, without the package -> whether they write them into a header.
ID_SERIALIZERS = {"PrefixSchemaIdSerializer": False, "HeaderSchemaIdSerializer": True}


def _class_name(names: Iterable[str]) -> Scalar:
    """The name of one of Java's classes, with or without its package."""
    kind = choice(*names, spell=lambda value: str(value).strip().rpartition(".")[2])
    return replace(kind, schema=java_classes(names))


def _pattern(value: str) -> str:
    try:
        re.compile(value)
    except re.error as error:
        raise ValueError(f"{value!r} is no regular expression: {error}") from None
    return value


def _costs(value: Any) -> Mapping[str, int]:
    """Read `rate.limit.costs`: the names of endpoints and the permits that a request of each takes."""
    if isinstance(value, Mapping):
        return value
    costs: dict[str, int] = {}
    for entry in filter(None, (part.strip() for part in str(value).split(","))):
        name, _, cost = entry.partition("=")
        if not cost.strip().isdigit():
            raise ValueError(f"{entry} is not a name and a number of permits, such as api.v3.topics.list=5")
        costs[name.strip()] = int(cost)
    return costs


_STRATEGY = _class_name(SUBJECT_STRATEGIES)
_ID_SERIALIZER = _class_name(ID_SERIALIZERS)
StrategyName = Annotated[str, AfterValidator(_STRATEGY.convert), Takes(_STRATEGY.words, schema=_STRATEGY.schema)]
IdSerializerName = Annotated[
    str, AfterValidator(_ID_SERIALIZER.convert), Takes(_ID_SERIALIZER.words, schema=_ID_SERIALIZER.schema)
]
ByteRate = Annotated[int, Takes(BYTES_A_SECOND)]
RegularExpression = Annotated[str, AfterValidator(_pattern), Takes("a regular expression", default="none")]
EndpointNames = Annotated[frozenset[str], BeforeValidator(parse_endpoints), Takes("names, with commas between")]
EndpointCosts = Annotated[
    Mapping[str, int], BeforeValidator(_costs), Takes("`ENDPOINT=PERMITS`, with commas between", default="none")
]
