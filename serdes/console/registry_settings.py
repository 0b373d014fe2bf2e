"""The settings of a command's registry client: a file, environment variables and the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from magicbyte.kit.settings.property_sources import properties_of_environment
from serdes.client.config import PREFIX
from serdes.console.properties import is_of_client, parse_pairs, read_file

#: Variable prefix -> the prefix of the property's name. `MAGICBYTE_BASIC_AUTH_USER_INFO` is the same as
#: `MAGICBYTE_SCHEMA_REGISTRY_BASIC_AUTH_USER_INFO`, which overrides it.
_ENVIRONMENT = {"MAGICBYTE_": "", "MAGICBYTE_SCHEMA_REGISTRY_": PREFIX}
#: The error of a command without a registry.
NO_REGISTRY = "name the registry: --schema-registry-url URL, schema.registry.url, or `registry` in magicbyte.toml"


def gather_settings(pairs: Sequence[str], files: Sequence[str | Path], *, url: str | None = None) -> dict[str, str]:
    """Return the settings of the command line, which override the environment's, which override the files'.

    The values of files and variables know their places. Placeholders such as `${file:/path:key}` stay as they are: the
    client resolves them.

    Args:
        pairs: `NAME=VALUE` arguments.
        files: .properties files.
        url: The registry's URL, if an option names it.

    Raises:
        ConfigError: A file cannot be read, or an argument has no `=`.
    """
    settings = settings_of_files(files) | settings_of_environment() | settings_of_pairs(pairs)
    return settings if url is None else settings | {f"{PREFIX}url": url}


def settings_of_files(files: Sequence[str | Path]) -> dict[str, str]:
    """Return the settings of .properties files; the later files win.

    Raises:
        ConfigError: A file cannot be read.
    """
    settings: dict[str, str] = {}
    for file in files:
        settings |= _canonical(read_file("--config", str(file)))
    return settings


def settings_of_environment() -> dict[str, str]:
    """Return the settings of the environment's variables."""
    settings: dict[str, str] = {}
    for variables, before in _ENVIRONMENT.items():
        properties = {before + name: value for name, value in properties_of_environment(variables).items()}
        settings |= _canonical({name: value for name, value in properties.items() if _is_meant(name, before)})
    return settings


def settings_of_pairs(pairs: Sequence[str]) -> dict[str, str]:
    """Return the settings of `NAME=VALUE` arguments.

    Raises:
        ConfigError: An argument has no `=`.
    """
    return _canonical(parse_pairs("--property", pairs))


def with_url(settings: Mapping[str, str], named: str | None, usual: str | None) -> dict[str, str] | None:
    """Return the settings with a URL, or None if nothing names a registry.

    Args:
        settings: The settings, which may have a URL.
        named: A URL that overrides theirs.
        usual: The default URL.
    """
    url = named or settings.get(f"{PREFIX}url") or usual
    return None if url is None else {**settings, f"{PREFIX}url": url}


def _is_meant(name: str, before: str) -> bool:
    """Whether a variable is a setting of the client; variables with the longer prefix are read only by that prefix."""
    return is_of_client(name) and (before == PREFIX or not name.startswith(PREFIX))


def _canonical(properties: dict[str, str]) -> dict[str, str]:
    """The properties, the client's under one name each, so that a later source overrides an earlier one."""
    return {
        PREFIX + name.removeprefix(PREFIX) if is_of_client(name) else name: value for name, value in properties.items()
    }
