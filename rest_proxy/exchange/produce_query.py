"""The query of requests that produce, in all versions: acks, and how schema data is written in JSON."""

from __future__ import annotations

from functools import cache

from magicbyte.http.routing.request import Request
from rest_proxy.exchange.parameters import choice_query
from rest_proxy.formats.plain import Options
from rest_proxy.settings import RestProxySettings

#: `acks` in queries and settings -> Kafka's.
_ACKS = {"0": "0", "1": "1", "-1": "all", "all": "all"}
_UNIONS = {"tagged": "tagged", "plain": "plain"}
_LOGICAL = {"text": "text", "stored": "stored"}


def acks_of(request: Request, settings: RestProxySettings) -> str:
    """The acks of a request: those of its query, else of the settings; `0`, `1` or `all`.

    Raises:
        ApiError: INVALID_ENTITY for another value.
    """
    return choice_query(request, "acks", _ACKS, _ACKS[settings.acks])


def schema_options(request: Request, settings: RestProxySettings) -> Options:
    """Return the JSON options of a request's schema data: from its query, else from the settings.

    Raises:
        ApiError: INVALID_ENTITY for another value.
    """
    if not request.scope["query_string"]:
        return _options(settings.avro_unions, settings.avro_logical_types)
    return _options(
        choice_query(request, "unions", _UNIONS, settings.avro_unions),
        choice_query(request, "logical", _LOGICAL, settings.avro_logical_types),
    )


@cache
def _options(unions: str, logical: str) -> Options:
    return Options(plain_unions=unions == "plain", stored=logical == "stored")
