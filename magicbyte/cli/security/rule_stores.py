"""The stores of access rules for `magicbyte acl`: a file, or a registry's log."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from magicbyte.cli.flags import add_schema_registry_url
from magicbyte.cli.registry_options import add_client_settings
from magicbyte.kit.failure import Failure
from magicbyte.kit.whole_file import write_whole
from magicbyte.security.rights.rule import Rule, RuleError
from magicbyte.security.rights.rule_file import format_rules, read_rule_file
from magicbyte.security.rights.rule_json import rules_from_json, rules_to_json
from serdes.client.clients import RegistryClient
from serdes.console.client import open_client
from serdes.console.registry_settings import gather_settings
from serdes.error import SerdesError

_URL = "schema.registry.url"


class RuleStore(Protocol):
    """Stores access rules."""

    @property
    def name(self) -> str:
        """The name of the store in messages."""

    def rules(self) -> frozenset[Rule]:
        """All rules."""

    def add(self, rules: frozenset[Rule]) -> None:
        """Add rules."""

    def remove(self, rules: frozenset[Rule]) -> None:
        """Remove existing rules."""

    def replace(self, rules: frozenset[Rule], *, dry_run: bool) -> tuple[frozenset[Rule], frozenset[Rule]]:
        """Replace all rules; returns the added and the removed rules, in a dry run without changing anything."""


#: The line of a file without rules, because an empty file could be a truncated one.
_NO_RULES = "# no rules"


@dataclass(frozen=True, slots=True)
class FileStore:
    """A file of rules; a server may read it at any time."""

    path: Path

    @property
    def name(self) -> str:
        """The path."""
        return str(self.path)

    def rules(self) -> frozenset[Rule]:
        """All rules.

        Raises:
            RuleFileError: The file cannot be used.
        """
        return read_rule_file(self.path, may_be_empty=True)

    def add(self, rules: frozenset[Rule]) -> None:
        """Add rules to the file, which is created if it does not exist."""
        self._write((self.rules() if self.path.exists() else frozenset()) | rules)

    def remove(self, rules: frozenset[Rule]) -> None:
        """Remove rules from the file."""
        self._write(self.rules() - rules)

    def replace(self, rules: frozenset[Rule], *, dry_run: bool) -> tuple[frozenset[Rule], frozenset[Rule]]:
        """Replace the rules of the file, which is created if it does not exist."""
        present = self.rules() if self.path.exists() else frozenset[Rule]()
        if not dry_run:
            self._write(rules)
        return rules - present, present - rules

    def _write(self, rules: frozenset[Rule]) -> None:
        """Replace the whole file at once; a file with comments is refused because they would be lost."""
        path = self.path
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        if any(line.lstrip().startswith("#") for line in lines) and lines != [_NO_RULES]:
            raise Failure(f"{path} has comments, which would be lost; change it by hand")
        try:
            write_whole(path, (format_rules(rules) or f"{_NO_RULES}\n").encode())
        except OSError as error:
            raise Failure(f"{path} cannot be written: {error.strerror}") from None


@dataclass(frozen=True, slots=True)
class RegistryStore:
    """The rules in a registry's log."""

    client: RegistryClient

    @property
    def name(self) -> str:
        """The URL."""
        return self.client.urls[0]

    def rules(self) -> frozenset[Rule]:
        """All rules."""
        answer, _ = self.client.access_rules()
        return self._checked(answer)

    def add(self, rules: frozenset[Rule]) -> None:
        """Add rules, all at once."""
        self.client.add_access_rules(rules_to_json(rules))

    def remove(self, rules: frozenset[Rule]) -> None:
        """Remove rules, all at once."""
        self.client.remove_access_rules(rules_to_json(rules))

    def replace(self, rules: frozenset[Rule], *, dry_run: bool) -> tuple[frozenset[Rule], frozenset[Rule]]:
        """Replace all rules at once."""
        change = self.client.replace_access_rules(rules_to_json(rules), dry_run=dry_run)
        return self._checked(change["added"]), self._checked(change["removed"])

    def _checked(self, answer: object) -> frozenset[Rule]:
        try:
            return rules_from_json(answer)
        except RuleError as error:
            raise Failure(f"{self.name} has a rule that is not known here: {error}") from None


def add_store_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that name the store."""
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--file", type=Path, metavar="FILE", help="the file of rules")
    add_schema_registry_url(where, "the registry with the rules in its log")
    add_client_settings(parser)


@contextmanager
def open_store(options: argparse.Namespace) -> Iterator[RuleStore]:
    """Open the store named by the options.

    Raises:
        Failure: They name none, it cannot be read or written, or the registry refuses a request.
    """
    if options.file is not None:
        yield FileStore(options.file)
        return
    try:
        with open_client(_client_properties(options)) as client:
            yield RegistryStore(client)
    except SerdesError as error:
        raise Failure(str(error)) from None


def _client_properties(options: argparse.Namespace) -> dict[str, str]:
    properties = gather_settings(options.property, options.config, url=options.schema_registry_url)
    if _URL not in properties:
        raise Failure(f"name the rules: --file FILE, --schema-registry-url URL, or --config FILE with {_URL}")
    return properties
