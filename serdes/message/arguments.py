"""Checks of arguments that serializers and deserializers take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from serdes.client.clients import BaseClient
from serdes.error import ConfigError

C = TypeVar("C", bound=BaseClient)


def checked_client(client: object, kind: type[C]) -> C:
    """The client, checked to be of the kind that the serializer needs.

    Raises:
        TypeError: it is not.
    """
    if not isinstance(client, kind):
        actual = f"{type(client).__module__}.{type(client).__name__}"
        raise TypeError(f"schema_registry_client must be a serdes.{kind.__name__} or of a kind of it, not {actual}")
    return client


F = TypeVar("F", bound=Callable[..., Any] | None)


def checked_function(name: str, function: F) -> F:
    """The function or None, after a check of its type.

    Raises:
        ConfigError: it is neither a function nor None.
    """
    if function is not None and not callable(function):
        raise ConfigError(name, f"must be a function of an object and its context, not {type(function).__name__}")
    return function
