"""A command that runs one server, described so that `magicbyte config` reads the same settings without running it."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from magicbyte.kit.command_line import CommandParser
from magicbyte.kit.environment import forget_secret_variables, read_environment
from magicbyte.kit.failure import Failure, say
from magicbyte.kit.placeholders import resolve, variables_named
from magicbyte.kit.properties_file import read_properties_file
from magicbyte.kit.settings.property_sources import properties_of_environment, properties_of_file

if TYPE_CHECKING:
    from magicbyte.kit.settings.catalog import Catalog


@dataclass(frozen=True, slots=True)
class OptionValue:
    """A property that an option sets.

    Attributes:
        name: The property.
        option: The option, as it is typed.
        value: Its value; None if the option is not given.
    """

    name: str
    option: str
    value: str | None


@dataclass(frozen=True, slots=True)
class Layer:
    """The properties of one source.

    Attributes:
        source: `file`, `environment` or `option`.
        properties: The properties. Those of files and variables know their places.
        options: Property -> the option that sets it.
    """

    source: str
    properties: Mapping[str, str]
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ServerCommand:
    """A command that runs one server.

    Attributes:
        name: The command, such as `registry`.
        add_options: Adds its options to a parser.
        layers: Reads the sources of its properties, those that override others last; raises Failure.
        complete: Adds the properties that follow from others; raises Failure if one is missing.
        stand_in: Properties to go on with if one is missing, to find further problems.
        checks: The module with `refusals(properties, dropped)`, imported only to check.
        catalog: The function that lists all settings, as `module:function`.
    """

    name: str
    add_options: Callable[[CommandParser], None]
    layers: Callable[[argparse.Namespace], Sequence[Layer]]
    complete: Callable[[dict[str, str]], None]
    stand_in: Mapping[str, str]
    checks: str
    catalog: str

    def all_settings(self) -> Catalog:
        """The catalog of its settings; needs the extra `server`."""
        module, _, name = self.catalog.partition(":")
        catalog: Catalog = getattr(importlib.import_module(module), name)()
        return catalog


def layers_of_server(options: argparse.Namespace, prefix: str, given: Sequence[OptionValue]) -> list[Layer]:
    """The sources of a server's properties: the file, the environment and the options.

    Args:
        options: Those of `add_server_options`.
        prefix: The prefix of the variables that are properties.
        given: The properties that options set.

    Raises:
        Failure: A file cannot be read.
    """
    return [
        Layer("file", _read("--config", options.config, properties_of_file)),
        Layer("environment", properties_of_environment(prefix)),
        layer_of_options(given),
    ]


def layer_of_options(given: Sequence[OptionValue]) -> Layer:
    """The properties that options set."""
    values = {item.name: item.value for item in given if item.value is not None}
    return Layer("option", values, {item.name: item.option for item in given if item.value is not None})


def merged(layers: Sequence[Layer]) -> dict[str, str]:
    """The properties of all sources; the later sources win."""
    return {name: value for layer in layers for name, value in layer.properties.items()}


def resolved(options: argparse.Namespace, prefix: str, layers: Sequence[Layer]) -> dict[str, str]:
    """The properties of all sources, with their placeholders resolved.

    Variables that hold secrets are then removed from the environment, so that no child process inherits them.

    Raises:
        Failure: The file of `--resolved-config` cannot be read, or a placeholder cannot be resolved.
    """
    properties = merged(layers)
    warning = read_environment(prefix).warning()
    # A worker process has the same variables as the process that started it, which has told them.
    if warning and options.resolved_config is None:
        say(warning)
    # This file is a temporary one of the process that started this one, so it is no place to show.
    values = _read("--resolved-config", options.resolved_config, read_properties_file) | resolve(properties)
    forget_secret_variables(prefix, variables_named(properties.values()))
    return values


def _read(option: str, path: Path | None, read: Callable[[Path], dict[str, str]]) -> dict[str, str]:
    if path is None:
        return {}
    try:
        return read(path)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise Failure(f"{option} {path} cannot be read: {reason}") from error
