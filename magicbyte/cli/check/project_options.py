"""`--config` and `--property`: the project's file, and the settings of the registry's client."""

from __future__ import annotations

import argparse
from pathlib import Path

from magicbyte.cli.registry_options import add_client_settings
from magicbyte.kit.failure import Failure

_PROPERTIES = ".properties"


def add_config(parser: argparse.ArgumentParser) -> None:
    """Add both options."""
    add_client_settings(
        parser,
        config_help="instead of the nearest magicbyte.toml;"
        f" a {_PROPERTIES} file has settings of the registry's client",
    )


def project_file(options: argparse.Namespace) -> Path | None:
    """The project's file; None if the options name none.

    Raises:
        Failure: the options name two such files.
    """
    projects = [file for file in options.config if file.suffix != _PROPERTIES]
    if len(projects) > 1:
        raise Failure(f"--config: {projects[0]} and {projects[1]} are both the project's; name one")
    return projects[0] if projects else None


def registry_settings(options: argparse.Namespace) -> dict[str, str]:
    """The settings of the registry's client.

    Raises:
        Failure: a file or an argument cannot be read.
    """
    from serdes.console.registry_settings import gather_settings  # noqa: PLC0415 - for those who name a registry
    from serdes.error import ConfigError  # noqa: PLC0415

    try:
        return gather_settings(options.property, [file for file in options.config if file.suffix == _PROPERTIES])
    except ConfigError as error:
        raise Failure(str(error)) from None
