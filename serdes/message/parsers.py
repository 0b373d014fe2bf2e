"""Types of settings: each function converts a user's value, often text, or raises ConfigError with its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from serdes.error import ConfigError

_TRUTH = {"true": True, "false": False, "1": True, "0": False}


def boolean(name: str, value: Any) -> bool:
    """A boolean, also as text: true, false, 1 or 0."""
    truth = value if isinstance(value, bool) else _TRUTH.get(str(value).lower())
    if truth is None:
        raise ConfigError(name, f"must be true or false, not {value!r}")
    return truth


def integer(name: str, value: Any) -> int:
    """An integer, also as text."""
    if not isinstance(value, bool):
        try:
            return int(str(value))
        except ValueError:
            pass
    raise ConfigError(name, f"must be an integer, not {value!r}")


def number(name: str, value: Any) -> float:
    """A number, also as text."""
    if not isinstance(value, bool):
        try:
            return float(value)
        except (TypeError, ValueError):
            pass
    raise ConfigError(name, f"must be a number, not {value!r}")


def text(name: str, value: Any) -> str:
    """A text."""
    if not isinstance(value, str):
        raise ConfigError(name, f"must be a text, not {type(value).__name__}")
    return value


def pairs(name: str, value: Any) -> dict[str, str]:
    """A mapping of texts to texts, also as `key=value,key=value`."""
    if isinstance(value, str):
        value = dict(item.partition("=")[::2] for item in value.split(",") if item)
    if not isinstance(value, Mapping) or not value:
        raise ConfigError(name, "must be a mapping of property names to values")
    return {str(key): str(item) for key, item in value.items()}


def schema_id(name: str, value: Any) -> int | None:
    """A schema id; -1 means none, as in Java."""
    return None if (number := integer(name, value)) == -1 else number


def guid(name: str, value: Any) -> str:
    """A schema's guid."""
    try:
        return str(UUID(text(name, value)))
    except ValueError as error:
        raise ConfigError(name, f"must be a guid, not {value!r}") from error


def one_of(**choices: str) -> Callable[[str, Any], str]:
    """A choice: by its name, by the name of Java's class, or as confluent-kafka's function."""

    def parse(name: str, value: Any) -> str:
        spelled = value if isinstance(value, str) else getattr(value, "__name__", repr(value))
        short = spelled.rpartition(".")[2]
        for choice, names in choices.items():
            if short == choice or short in names.split():
                return choice
        raise ConfigError(name, f"must be one of {', '.join(choices)}, not {spelled}")

    return parse
