"""Errors and probable mistakes in a rule set: found from the rules and the schema, without a message."""

from __future__ import annotations

from compat.contracts.findings.checking import check_rules
from compat.contracts.findings.contract import Contract
from compat.contracts.findings.finding import Finding, Severity

__all__ = ["Contract", "Finding", "Severity", "check_rules"]
