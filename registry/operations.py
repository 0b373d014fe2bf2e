"""What the errors of writes say, by operation: each has the reference's own texts."""

from __future__ import annotations

from dataclasses import dataclass

_UNKNOWN_LEADER = "Leader not known."


@dataclass(frozen=True, slots=True)
class Operation:
    """A kind of write.

    Attributes:
        timed_out: The text of 50002.
        failed: The text of 50001; `{store}` stands for what keeps the schemas.
        no_leader: The text of 50004.
    """

    timed_out: str
    failed: str
    no_leader: str = _UNKNOWN_LEADER


def _schemas(name: str, writing: str | None = None) -> Operation:
    return Operation(f"{name} operation timed out", f"{writing or name} operation failed while writing to {{store}}")


def _settings(verb: str, noun: str, name: str) -> Operation:
    failed = f"Failed to {verb} {noun}"
    return Operation(f"{name} operation timed out", failed, failed)


REGISTER = _schemas("Register", "Register schema")
DELETE_SUBJECT = _schemas("Delete subject")
DELETE_VERSION = _schemas("Delete Schema Version")
UNDELETE = _schemas("Undelete")
DELETE_CONTEXT = _schemas("Delete context")
IMPORT = _schemas("Import")
UPDATE_CONFIG = _settings("update", "compatibility level", "Update compatibility level")
DELETE_CONFIG = _settings("delete", "compatibility level", "Delete compatibility level")
UPDATE_MODE = _settings("update", "mode", "Update mode")
DELETE_MODE = _settings("delete", "mode", "Delete mode")
