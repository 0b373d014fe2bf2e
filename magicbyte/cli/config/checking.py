"""`magicbyte config check`: what a server would refuse at its start, as far as it can be known without Kafka."""

from __future__ import annotations

import argparse
import importlib
import json
import logging
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from magicbyte.cli.config.servers import SERVERS
from magicbyte.cli.servers.command import ServerCommand, merged
from magicbyte.kit.failure import Failure
from magicbyte.kit.inert import inert_lines
from magicbyte.kit.placeholders import PlaceholderError, resolve
from magicbyte.kit.settings.place import FindingsError, SettingsError, with_places
from serdes.console.outcome import BAD_USAGE, OK

S = TypeVar("S")
#: The loggers of what reads settings.
_LOGGERS = ("magicbyte", "rest_proxy", "serdes")


def check(options: argparse.Namespace) -> int:
    """Print what the server would refuse, and its warnings; returns 2 if it would refuse anything."""
    server = SERVERS[options.server]
    with warnings_of_settings() as warnings:
        try:
            properties = merged(server.layers(options))
        except Failure as failure:
            refused = [str(failure)]
        else:
            refused = refusals(server, properties)
    if options.output == "json":
        result = {"server": server.name, "refused": refused, "warnings": list(warnings)}
        sys.stdout.write(json.dumps(result, indent=2) + "\n")
        return BAD_USAGE if refused else OK
    for text in refused:
        sys.stderr.write(f"refused: {inert_lines(text)}\n")
    for text in warnings:
        sys.stderr.write(f"warning: {inert_lines(text)}\n")
    if not refused:
        sys.stdout.write(f"`magicbyte {server.name}` would start with these settings, as far as files tell\n")
    return BAD_USAGE if refused else OK


def refusals(server: ServerCommand, properties: dict[str, str]) -> list[str]:
    """All that a server would refuse, in the words of the server.

    A wrong property is left out to find further ones. What then follows from its absence is not reported.

    Args:
        server: The server.
        properties: Its properties, with placeholders.
    """
    found = Refusals(properties)
    kept = found.resolved()
    try:
        server.complete(kept)
    except Failure as failure:
        found.add(str(failure))
        kept |= server.stand_in
    importlib.import_module(server.checks).find_refusals(kept, found)
    return found.texts


class Refusals:
    """The refusals so far.

    Attributes:
        texts: Their texts, each once.
        dropped: The properties that are wrong and were left out.
    """

    def __init__(self, properties: dict[str, str]) -> None:
        self.texts: list[str] = []
        self.dropped: set[str] = set()
        self._properties = properties

    def resolved(self) -> dict[str, str]:
        """The properties with their placeholders resolved, without those that have one that cannot be resolved."""
        kept: dict[str, str] = {}
        for name, value in self._properties.items():
            try:
                kept |= resolve({name: value})
            except PlaceholderError as error:
                self.add(str(error))
                self.dropped.add(name)
        return kept

    def add(self, text: str) -> None:
        """Add a refusal; each of several lines is one."""
        for line in with_places(text, self._properties).splitlines():
            if line not in self.texts:
                self.texts.append(line)

    def run(self, step: Callable[[], object]) -> bool:
        """Run a step of the server's start; returns whether it succeeded.

        A refusal that names a property that was left out is not added: it may come from its absence.
        """
        try:
            step()
        except Failure as failure:
            self._add_own(str(failure))
            return False
        return True

    def _add_own(self, text: str) -> None:
        """Add the refusals that name no property that was left out."""
        self.add("\n".join(line for line in text.splitlines() if not _names_in(line, self.dropped)))

    def settings(self, make: Callable[[dict[str, str]], S], kept: dict[str, str]) -> S | None:
        """The settings, made without the properties that are wrong; None if even that fails.

        Args:
            make: Checks and converts properties; raises SettingsError.
            kept: The properties; those that are wrong are removed.
        """
        while True:
            try:
                return make(kept)
            except SettingsError as error:
                self._add_own(str(error))
                wrong = _wrong_names(error, kept)
                for name in wrong:
                    del kept[name]
                self.dropped |= wrong
                if not wrong:
                    return None


def _wrong_names(error: SettingsError, properties: Iterable[str]) -> set[str]:
    """The properties that an error is about; if it names one that is not given, those that the text mentions."""
    if isinstance(error, FindingsError):
        names = {finding.path for finding in error.findings}
    else:
        names = {line.partition(": ")[0] for line in str(error).splitlines()}
    return names & {*properties} or _names_in(str(error), properties)


def _names_in(text: str, names: Iterable[str]) -> set[str]:
    """The names that a text has as words."""
    return {name for name in names if re.search(rf"(?<![\w.]){re.escape(name)}(?![\w-]|\.\w)", text)}


@contextmanager
def warnings_of_settings() -> Iterator[dict[str, None]]:
    """Collect the warnings that our loggers give meanwhile, each once, and print none."""
    collected: dict[str, None] = {}

    class _Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            collected[record.getMessage()] = None

    handler, loggers = _Handler(logging.WARNING), [logging.getLogger(name) for name in _LOGGERS]
    before = [(logger, logger.propagate) for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.propagate = False
    try:
        yield collected
    finally:
        for logger, propagates in before:
            logger.removeHandler(handler)
            logger.propagate = propagates
