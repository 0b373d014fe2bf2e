"""Asks the rules that are in force, and counts what they say."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from magicbyte.security.principal import Principal
from magicbyte.security.rights.rule import Rule
from magicbyte.security.rights.rule_file import read_rule_file
from magicbyte.security.rights.rules import Decision, Rules

log = logging.getLogger("magicbyte.security")


class Authorizer:
    """The rules in force. They are replaced as a whole, so a decision is by the old ones or by the new ones."""

    name = "rules"

    def __init__(
        self,
        super_users: frozenset[str],
        file: Path | None = None,
        counts: Counter[tuple[str, str, str]] | None = None,
    ) -> None:
        """Begin without rules, or with those of a file.

        Args:
            super_users: `User:<name>` and `Group:<name>` of those whom no rule binds.
            file: Holds the rules, one a line.
            counts: Counts decisions by resource type, operation and outcome, for the metrics.

        Raises:
            RuleFileError: The file cannot be used.
        """
        self._super_users = super_users
        self._file = file
        #: (resource type, operation, outcome) -> how often.
        self.counts: Counter[tuple[str, str, str]] = Counter() if counts is None else counts
        #: Grows with each change of the rules.
        self.epoch = 0
        self.rules = Rules((), super_users)
        if file is not None:
            self.reload()

    @property
    def paths(self) -> Sequence[Path]:
        """The files to watch."""
        return [] if self._file is None else [self._file]

    def reload(self) -> None:
        """Read the file again.

        Raises:
            RuleFileError: A line is wrong; all rules stay as they are, so that no denial gets lost.
        """
        if self._file is not None:
            self.replace(read_rule_file(self._file))

    def replace(self, rules: Iterable[Rule]) -> None:
        """Put other rules in force; may be called from any thread."""
        self.rules = Rules(rules, self._super_users)
        self.epoch += 1

    def decide(self, principal: Principal, address: str, operation: str, resource_type: str, name: str) -> Decision:
        """Decide, and count the decision; see `Rules.decide`."""
        decision = self.rules.decide(principal, address, operation, resource_type, name)
        self.counts[resource_type, operation, "allowed" if decision.is_allowed else "denied"] += 1
        return decision
