"""Decides by the rules in force, and counts the decisions."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol

from magicbyte.kit.failure import Failure
from magicbyte.kit.logs.repeats import OccasionalWarning
from magicbyte.security.principal import Principal
from magicbyte.security.rights.rule import Rule
from magicbyte.security.rights.rule_file import read_rule_file
from magicbyte.security.rights.rule_set import Decision, Rules

log = logging.getLogger("magicbyte.security")

#: How often the log repeats that denials are only tried out.
_WARNING_SECONDS = 60.0
_DRY_RUN = "magicbyte.authorization.dry.run: %s would be denied %s on %s %s; nothing is denied now"


class RuleLog(Protocol):
    """A log that stores the rules and reports their changes."""

    rules_offset: int

    def rules(self) -> Iterable[Rule]:
        """All rules; the rules up to an offset are available before the offset is reported."""


class Authorizer:
    """The rules in force. They are replaced as a whole, so a decision uses either the old or the new ones."""

    name = "rules"

    def __init__(
        self,
        super_users: frozenset[str],
        file: Path | None = None,
        counts: Counter[tuple[str, str, str]] | None = None,
        *,
        is_dry_run: bool = False,
    ) -> None:
        """Start without rules, or with those of a file.

        Args:
            super_users: The users and groups that may do everything, as `User:<name>` and `Group:<name>`.
            file: A file with one rule per line.
            counts: Counts decisions by resource type, operation and outcome, for metrics.
            is_dry_run: Whether denials are only counted and logged.

        Raises:
            RuleFileError: The file cannot be used.
        """
        self._super_users = super_users
        #: Whether denials are only counted and logged.
        self.is_dry_run = is_dry_run
        self._warn_of_denial = OccasionalWarning(log, "denial_in_dry_run", _DRY_RUN, seconds=_WARNING_SECONDS)
        self._file = file
        self._log: RuleLog | None = None
        self._log_offset: int | None = None
        self._catching_up = threading.Lock()
        #: (resource type, operation, outcome) -> the number of decisions.
        self.counts: Counter[tuple[str, str, str]] = Counter() if counts is None else counts
        #: Increases with each change of the rules.
        self.epoch = 0
        #: The rules in force.
        self.rules = Rules((), super_users, is_dry_run=is_dry_run)
        if file is not None:
            self.reload()

    @property
    def paths(self) -> Sequence[Path]:
        """The files to watch."""
        return [] if self._file is None else [self._file]

    def follow(self, rule_log: RuleLog) -> None:
        """Use the rules of a log from now on; `catch_up` applies its later changes."""
        self._log, self._log_offset = rule_log, None
        self.catch_up()

    def catch_up(self) -> None:
        """Apply the log's rules if they have changed.

        Compiling thousands of rules takes tens of milliseconds, so the thread that reads the log calls this, never a
        request.
        """
        rule_log = self._log
        if rule_log is None or rule_log.rules_offset == self._log_offset:
            return
        with self._catching_up:
            # Read the offset first, so that the rules are at least as new as it.
            offset = rule_log.rules_offset
            if offset != self._log_offset:
                self.replace(rule_log.rules())
                self._log_offset = offset

    def require_use(self, where: str) -> None:
        """Refuse to start if nobody could do anything.

        Args:
            where: The source of the rules.

        Raises:
            Failure: There is neither a rule nor a super user.
        """
        if not self.rules.all and not self._super_users:
            raise Failure(f"{where} has no rule, and super.users is empty: nobody could do anything")

    def reload(self) -> None:
        """Read the file again.

        Raises:
            RuleFileError: A line is wrong, or the file is empty; the old rules stay in force, so no denial is lost.
        """
        if self._file is not None:
            self.replace(read_rule_file(self._file))

    def replace(self, rules: Iterable[Rule]) -> None:
        """Replace the rules; may be called from any thread, and takes long for thousands of rules."""
        self.rules = Rules(rules, self._super_users, is_dry_run=self.is_dry_run)
        self.epoch += 1

    def decide_by(
        self, rules: Rules, principal: Principal, address: str, operation: str, resource_type: str, name: str
    ) -> Decision:
        """Decide by the rules in force when a request arrived, and count the decision; see `Rules.decide`."""
        decision = rules.decide(principal, address, operation, resource_type, name)
        outcome = "dry_run" if decision.is_dry_run else "allowed" if decision.is_allowed else "denied"
        self.counts[resource_type, operation, outcome] += 1
        if decision.is_dry_run:
            self._warn_of_denial(principal.name, operation, resource_type, name)
        return decision
