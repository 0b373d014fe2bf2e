"""The table of the checks of `magicbyte fsck`, for docs/fsck.md."""

from __future__ import annotations

from magicbyte.operations.fsck.checks import CHECKS


def checks_table() -> str:
    """The table: code, what it finds, how bad that is, what to do, and what `--repair` does."""
    lines = ["| code | finds | | what to do | `--repair` |\n", "|---|---|---|---|---|\n"]
    for code, check in CHECKS.items():
        star = "\\*" if check.of_url else ""
        named = f"only by `--repair {code}`: " if check.by_name_only else ""
        repair = f"{named}{check.repair}" if check.repair else "-"
        lines.append(f"| {code}{star} | {check.finds} | {check.severity.value} | {check.remedy} | {repair} |\n")
    return "".join(lines)
