"""Placeholders in settings: `${file:/path:key}`, `${directory:/path:key}` and `${env:NAME}`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from magicbyte.kit.failure import Failure
from magicbyte.kit.properties_file import read_properties_file
from magicbyte.kit.settings.place import moved, with_places

_PLACEHOLDER = re.compile(r"\$\{(file|directory|env):([^}]*)\}")


class PlaceholderError(Failure, ValueError):
    """A placeholder that cannot be resolved; the text names the property and contains no value."""


def resolve(properties: Mapping[str, str], environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the properties with their placeholders resolved.

    The providers are those of Kafka's clients: `file` reads a key of a .properties file, or the whole file if there is
    no key; `directory` reads the file with the key's name; `env` reads a variable, with an optional default after
    `:-`.
    Resolved values are not searched for further placeholders.

    Args:
        properties: Settings by name.
        environment: The variables; by default those of the process.

    Raises:
        PlaceholderError: A file, key or variable is missing.
    """
    variables = os.environ if environment is None else environment
    try:
        return {name: moved(resolve_value(name, value, variables), value) for name, value in properties.items()}
    except PlaceholderError as error:
        raise PlaceholderError(with_places(str(error), properties)) from None


def without_placeholders(value: str) -> str:
    """Return a value without its placeholders; a placeholder with a default stays, because the default is readable."""
    return _PLACEHOLDER.sub(lambda match: match[0] if ":-" in match[2] else "", value)


def resolve_value(name: str, value: str, environment: Mapping[str, str] | None = None) -> str:
    """Resolve the placeholders in one property's value; see `resolve`.

    Raises:
        PlaceholderError: As `resolve`.
    """
    if "${" not in value:
        return value
    variables = os.environ if environment is None else environment

    def replace(match: re.Match[str]) -> str:
        try:
            return _PROVIDERS[match[1]](match[2], variables)
        except (OSError, UnicodeDecodeError, LookupError) as error:
            reason = error.strerror if isinstance(error, OSError) else _REASONS[match[1]]
            raise PlaceholderError(f"{name}: {match[0]} cannot be resolved: {reason}") from None

    return _PLACEHOLDER.sub(replace, value)


def resolve_defaults(value: str) -> str:
    """Resolve the placeholders in a value if each is a variable with a default, by these defaults; or return it."""
    return _PLACEHOLDER.sub(lambda match: match[2].partition(":-")[2], value) if _has_defaults(value) else value


def _has_defaults(value: str) -> bool:
    return all(provider == "env" and ":-" in reference for provider, reference in placeholders_in(value))


def variables_named(values: Iterable[str]) -> set[str]:
    """Return the names of the variables in the placeholders of some values."""
    return {
        match[2].partition(":-")[0] for value in values for match in _PLACEHOLDER.finditer(value) if match[1] == "env"
    }


def placeholders_in(value: str) -> list[tuple[str, str]]:
    """Return the placeholders in a value: the provider, and what it is asked for."""
    return [(match[1], match[2]) for match in _PLACEHOLDER.finditer(value)]


def _file(reference: str, _variables: Mapping[str, str]) -> str:
    path, colon, key = reference.rpartition(":")
    if not colon:
        return Path(reference).read_text(encoding="utf-8").rstrip("\r\n")
    return read_properties_file(Path(path))[key]


def _directory(reference: str, _variables: Mapping[str, str]) -> str:
    folder, _, key = reference.rpartition(":")
    if not folder or "/" in key or key in ("", ".", ".."):
        raise LookupError
    return Path(folder, key).read_text(encoding="utf-8").rstrip("\r\n")


def _env(reference: str, variables: Mapping[str, str]) -> str:
    name, colon, default = reference.partition(":-")
    return variables.get(name, default) if colon else variables[name]


_PROVIDERS = {"file": _file, "directory": _directory, "env": _env}
_REASONS = {
    "file": "it has no such key, or is no UTF-8 text",
    "directory": "write ${directory:/folder:file}",
    "env": "the variable is not set",
}
