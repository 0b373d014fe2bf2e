"""The client of the registry that the options of `magicbyte upgrade` describe."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from magicbyte.kit.failure import Failure
from serdes.client.config import short_names
from serdes.console.registry_settings import gather_settings
from serdes.error import ConfigError


def client_properties(options: argparse.Namespace) -> Mapping[str, str]:
    """The properties of the registry's client.

    Raises:
        Failure: An option cannot be read.
    """
    try:
        properties = dict(short_names(gather_settings(options.property, [])))
    except ConfigError as error:
        raise Failure(str(error)) from None
    properties.pop("url", None)
    return properties
