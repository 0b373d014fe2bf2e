"""A finding of the preflight: what is different after the migration, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from magicbyte.kit.inert import inert_line


class Severity(StrEnum):
    """The severity of a finding: a stop breaks readers or loses schemas, a warning may surprise, a note is news."""

    STOP = "stop"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of finding.

    Attributes:
        severity: How bad it is.
        remedy: What to do about it.
    """

    severity: Severity
    remedy: str


#: Code -> kind. Findings are sorted by severity, then in this order.
KINDS: Mapping[str, Kind] = {
    "FAULT": Kind(
        Severity.STOP,
        "repair the origin before the move; `magicbyte restore --accept KIND` takes some faults as they are",
    ),
    "PARTIAL": Kind(
        Severity.STOP, "give the user these rights: nothing can be said of what a registry does not show, nor copied"
    ),
    "LOG": Kind(Severity.STOP, "run `magicbyte fsck` on the topic, and follow its remedies"),
    "ACL": Kind(Severity.STOP, "grant the operations to the principal of the registry, then run this again"),
    "TARGET_CONFLICT": Kind(Severity.STOP, "use an empty target, or delete what conflicts in the target"),
    "TARGET_READ_ONLY": Kind(Severity.STOP, "set the target's mode to READWRITE before the restore"),
    "ENCRYPTED_FIELDS": Kind(
        Severity.STOP,
        "keep the origin running for readers of the encrypted fields, or decrypt the topics before the move: keys of "
        "a DEK registry are not copied",
    ),
    "EXPORTERS": Kind(
        Severity.STOP, "replace each exporter by `magicbyte mirror` before the move, then `--ignore EXPORTERS`"
    ),
    "LOOKUP_MISSED": Kind(
        Severity.STOP,
        "set `normalize` for the subject in our registry or the producer, or register the producer's text once at "
        "the origin",
    ),
    "FRAMES_8": Kind(
        Severity.STOP,
        "keep Apicurio's deserializer for these topics, or write them anew with ids of 4 bytes before the move",
    ),
    "IDS_UNKNOWN": Kind(
        Severity.STOP,
        "find out where the ids come from before the move: another registry, a context, Apicurio's other id space",
    ),
    "NATIVE_API": Kind(
        Severity.STOP, "move these clients to the Confluent API (`/apis/ccompat/v7`) at the origin first"
    ),
    "UNPARSED": Kind(
        Severity.WARNING,
        "the version stays readable, but no new version can be compared with it: correct the schema at the origin, or "
        "set the subject's level to NONE for the next version",
    ),
    "JUDGED_DIFFERENTLY": Kind(
        Severity.WARNING,
        "existing versions are kept; check the next change with `magicbyte check`, or set a level or policy for the "
        "subject",
    ),
    "RULE_TYPES": Kind(
        Severity.WARNING, "install an executor of the type in each client, and name it in magicbyte.rules.types"
    ),
    "RULE_SETS": Kind(Severity.WARNING, "run `magicbyte rules check` on the schema"),
    "SETTINGS": Kind(Severity.WARNING, "replace the setting at the origin, or set another after the move"),
    "DEFAULT_LEVEL": Kind(
        Severity.WARNING, "set the same default: schema.compatibility.level of the server, or PUT /config"
    ),
    "TARGET_NOT_EMPTY": Kind(Severity.WARNING, "make sure that the target's schemas are wanted"),
    "TARGET_FOREIGN": Kind(Severity.WARNING, "see what `magicbyte restore --dry-run` says that it cannot hold"),
    "MODE": Kind(Severity.WARNING, "the mode is copied: set READWRITE in the new registry at the cut-over"),
    "NOT_CHECKED": Kind(Severity.WARNING, "run the preflight again with what it lacked"),
    "PRODUCER_UNREGISTERED": Kind(Severity.WARNING, "register the schema at the origin, or leave it to the producer"),
    "STRICT": Kind(Severity.NOTE, "nothing for existing versions; correct the schema before its next version"),
    "CONTEXTS": Kind(Severity.NOTE, "clients need the same qualified subjects or context paths as before"),
    "METADATA": Kind(Severity.NOTE, "none: metadata is kept"),
    "RULES": Kind(Severity.NOTE, "none: rule sets are kept, and clients carry them out"),
    "SOFT_DELETED": Kind(Severity.NOTE, "none: they are copied as soft-deleted, so that their ids stay readable"),
    "ENCODED_METADATA": Kind(
        Severity.NOTE, "encrypted values stay as they are: read them at the origin if they are needed in clear"
    ),
    "LOG_NOTE": Kind(Severity.NOTE, "run `magicbyte fsck` on the topic for the details"),
    "IDS": Kind(Severity.NOTE, "none: count again after the move with `magicbyte ids`"),
    "CLIENTS": Kind(Severity.NOTE, "tell their owners the time of the switch"),
    "READING": Kind(Severity.NOTE, "none"),
}
_ORDER = {code: place for place, code in enumerate(KINDS)}
_SEVERITIES = list(Severity)


@dataclass(frozen=True, slots=True)
class Finding:
    """A difference or a danger at one place.

    Attributes:
        code: Its kind.
        sentence: What is so, and where.
        remedy: What to do about this one; empty for the remedy of its kind.
        subject: The subject in wire form; empty if it is about none.
        severity: How bad it is; None for the severity of its kind.
    """

    code: str
    sentence: str
    remedy: str = ""
    subject: str = ""
    severity: Severity | None = None

    @property
    def weight(self) -> Severity:
        """The severity of the finding: its own, or that of its code."""
        return self.severity or KINDS[self.code].severity

    @property
    def advice(self) -> str:
        """The remedy for the finding: its own, or that of its code."""
        return self.remedy or KINDS[self.code].remedy

    @property
    def sort_key(self) -> tuple[int, int]:
        """The place of this finding among others: the worst first."""
        return _SEVERITIES.index(self.weight), _ORDER[self.code]

    def to_json(self) -> dict[str, Any]:
        """The finding as JSON data."""
        value = {"code": self.code, "severity": str(self.weight), "sentence": self.sentence, "remedy": self.advice}
        return {**value, "subject": self.subject} if self.subject else value

    def line(self) -> str:
        """The finding as a line; names from the registry cannot control a terminal."""
        return inert_line(f"{self.code}: {self.sentence}")
