"""Asks the rules that are in force, and counts what they say."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol

from magicbyte.kit.failure import Failure
from magicbyte.kit.logs import OccasionalWarning
from magicbyte.security.principal import Principal
from magicbyte.security.rights.rule import Rule
from magicbyte.security.rights.rule_file import read_rule_file
from magicbyte.security.rights.rules import Decision, Rules

log = logging.getLogger("magicbyte.security")

#: How often the log says that rules are only tried out.
_WARNING_SECONDS = 60.0
_DRY_RUN = "magicbyte.authorization.dry.run: %s would be denied %s on %s %s; nothing is denied now"


class RuleLog(Protocol):
    """Keeps the rules, and says when they have changed."""

    rules_offset: int

    def rules(self) -> Iterable[Rule]:
        """All rules; what they are at an offset is there before the offset says so."""


class Authorizer:
    """The rules in force. They are replaced as a whole, so a decision is by the old ones or by the new ones."""

    name = "rules"

    def __init__(
        self,
        super_users: frozenset[str],
        file: Path | None = None,
        counts: Counter[tuple[str, str, str]] | None = None,
        *,
        is_dry_run: bool = False,
    ) -> None:
        """Begin without rules, or with those of a file.

        Args:
            super_users: `User:<name>` and `Group:<name>` of those whom no rule binds.
            file: Holds the rules, one a line.
            counts: Counts decisions by resource type, operation and outcome, for the metrics.
            is_dry_run: Count and log denials, but allow what they deny.

        Raises:
            RuleFileError: The file cannot be used.
        """
        self._super_users = super_users
        self._is_dry_run = is_dry_run
        self._warn_of_denial = OccasionalWarning(log, _DRY_RUN, seconds=_WARNING_SECONDS)
        self._file = file
        self._log: RuleLog | None = None
        self._log_offset: int | None = None
        self._catching_up = threading.Lock()
        #: (resource type, operation, outcome) -> how often.
        self.counts: Counter[tuple[str, str, str]] = Counter() if counts is None else counts
        #: Grows with each change of the rules.
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
        """Keep to the rules of a log from now on; `catch_up` takes its later changes."""
        self._log, self._log_offset = rule_log, None
        self.catch_up()

    def catch_up(self) -> None:
        """Put the rules of the log in force if they have changed.

        Compiling thousands of rules takes tens of milliseconds. So the thread that reads the log calls this, and no
        request does.
        """
        rule_log = self._log
        if rule_log is None or rule_log.rules_offset == self._log_offset:
            return
        with self._catching_up:
            # The offset first: what is read later is at least as new.
            offset = rule_log.rules_offset
            if offset != self._log_offset:
                self.replace(rule_log.rules())
                self._log_offset = offset

    def require_use(self, where: str) -> None:
        """Refuse to start if nobody could do anything.

        Args:
            where: Where the rules are from.

        Raises:
            Failure: There is neither a rule nor a super user.
        """
        if not self.rules.all and not self._super_users:
            raise Failure(f"{where} has no rule, and super.users is empty: nobody could do anything")

    def reload(self) -> None:
        """Read the file again.

        Raises:
            RuleFileError: A line is wrong, or the file is empty; all rules stay, so that no denial gets lost.
        """
        if self._file is not None:
            self.replace(read_rule_file(self._file))

    def replace(self, rules: Iterable[Rule]) -> None:
        """Put other rules in force; may be called from any thread, and takes long for thousands of rules."""
        self.rules = Rules(rules, self._super_users, is_dry_run=self._is_dry_run)
        self.epoch += 1

    def decide_by(
        self, rules: Rules, principal: Principal, address: str, operation: str, resource_type: str, name: str
    ) -> Decision:
        """Decide by rules that were in force when a request arrived, and count the decision; see `Rules.decide`."""
        decision = rules.decide(principal, address, operation, resource_type, name)
        outcome = "dry_run" if decision.is_dry_run else "allowed" if decision.is_allowed else "denied"
        self.counts[resource_type, operation, outcome] += 1
        if decision.is_dry_run:
            self._warn_of_denial(principal.name, operation, resource_type, name)
        return decision
