"""The settings of a command's registry client: a file, environment variables and the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from magicbyte.kit.environment import properties_from_environment
from serdes.client.config import PREFIX
from serdes.console.properties import is_of_client, parse_pairs, read_file

#: `MAGICBYTE_SCHEMA_REGISTRY_BASIC_AUTH_USER_INFO` sets `schema.registry.basic.auth.user.info`.
ENVIRONMENT_PREFIX = "MAGICBYTE_SCHEMA_REGISTRY_"
#: What a command says that has no registry.
NO_REGISTRY = "name the registry: --registry URL, schema.registry.url, or `registry` in magicbyte.toml"


def gather_settings(pairs: Sequence[str], files: Sequence[str | Path], *, url: str | None = None) -> dict[str, str]:
    """Return the settings: those of the files, over them the environment's, over them the command line's.

    Placeholders such as `${file:/path:key}` stay as they are: the client resolves them.

    Args:
        pairs: `NAME=VALUE` arguments.
        files: .properties files.
        url: The registry's URL, if an option names it.

    Raises:
        ConfigError: A file cannot be read, or an argument has no `=`.
    """
    settings: dict[str, str] = {}
    for file in files:
        settings |= _canonical(read_file("--config", str(file)))
    environment = properties_from_environment(ENVIRONMENT_PREFIX)
    settings |= {PREFIX + name: value for name, value in environment.items()}
    settings |= _canonical(parse_pairs("--property", pairs))
    return settings if url is None else settings | {f"{PREFIX}url": url}


def with_url(settings: Mapping[str, str], named: str | None, usual: str | None) -> dict[str, str] | None:
    """Return the settings with a URL, or None if nothing names a registry.

    Args:
        settings: The settings, which may have a URL.
        named: A URL that goes over theirs.
        usual: The URL if there is no other.
    """
    url = named or settings.get(f"{PREFIX}url") or usual
    return None if url is None else {**settings, f"{PREFIX}url": url}


def _canonical(properties: dict[str, str]) -> dict[str, str]:
    """Properties with the client's under one name each, so that a source overrides those before it."""
    return {
        PREFIX + name.removeprefix(PREFIX) if is_of_client(name) else name: value for name, value in properties.items()
    }
