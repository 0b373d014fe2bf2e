"""`--config` and `--property`: the options of all commands with the settings of their registry's client.

`registry_settings` reads them; it takes longer to import, and a command without a registry does not need it.
"""

from __future__ import annotations

import argparse
from pathlib import Path


def add_client_settings(
    parser: argparse.ArgumentParser,
    *,
    config_help: str = "a .properties file of the registry's client, with credentials",
    properties_of: str = "the registry's client",
) -> None:
    """Add both options, each of which may be given several times.

    Args:
        parser: The command's parser.
        config_help: The help of `--config`, if the command reads other files by it too.
        properties_of: The owner of the properties.
    """
    parser.add_argument("--config", type=Path, action="append", default=[], metavar="FILE", help=config_help)
    parser.add_argument(
        "--property",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help=f"of {properties_of}, such as basic.auth.user.info=${{file:PATH:KEY}}"
        " (MAGICBYTE_BASIC_AUTH_USER_INFO in the environment)",
    )
