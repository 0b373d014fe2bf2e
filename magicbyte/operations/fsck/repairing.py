"""Repairs of a log: what would be done, and its execution by the leader or by the topic's settings."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from magicbyte.kit.failure import Failure
from magicbyte.kit.plural import plural
from magicbyte.operations.failures import Unreachable
from magicbyte.operations.fsck.checks import CHECKS
from magicbyte.operations.fsck.evidence import Evidence
from magicbyte.operations.fsck.topic import right_configs
from magicbyte.operations.registry_end import RegistryEnd
from magicbyte.operations.sources.log_source import LogSource, TopicSource
from magicbyte.operations.sources.port import RawSource, Source
from registry.repair.finding import Finding, shown_bytes
from registry.repair.plan import REPAIRS, Plan, plan
from serdes.error import RegistryError

_REQUEST_SECONDS = 10.0
_METHOD_NOT_ALLOWED = 405
_NOT_FOUND = 404
#: A subject that no registry has, to ask for the manifest of an export alone.
_NO_SUBJECT = "magicbyte.fsck.of.no.subject"
#: What of a record has to be equal in the leader's plan.
_COMPARED = ("code", "offsets", "key", "tombstone")


@dataclass(frozen=True, slots=True)
class Repairs:
    """The changes that a repair would make.

    Attributes:
        codes: The codes that are repaired.
        log: The records that are appended, with the findings that need them.
        configs: The settings of the topic that are changed, and their values.
        aborted: The findings of ABORTED_TAIL, which a leader or `--offline` repairs.
    """

    codes: frozenset[str]
    log: Plan
    configs: dict[str, str]
    aborted: Sequence[Finding]

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to do."""
        return not (self.log.steps or self.configs or self.aborted)

    @property
    def log_codes(self) -> list[str]:
        """The codes for which records are appended."""
        return [code for code in REPAIRS if code in self.codes]


def chosen_codes(named: Iterable[str]) -> frozenset[str]:
    """The codes to repair: the named ones, or all that need no naming.

    Raises:
        Failure: A code is unknown, or nothing repairs it.
    """
    codes = frozenset(named)
    for code in sorted(codes):
        if code not in CHECKS:
            raise Failure(f"--repair {code}: there is no such code; there are {', '.join(CHECKS)}")
        if not CHECKS[code].repair:
            raise Failure(f"--repair {code}: no program can decide this; {CHECKS[code].remedy}")
    return codes or frozenset(code for code, check in CHECKS.items() if check.repair and not check.by_name_only)


def plan_repairs(evidence: Evidence, findings: Iterable[Finding], codes: frozenset[str]) -> Repairs:
    """Plan the repair of what was found; nothing is written.

    Raises:
        Failure: The source has no log, or a topic's settings are to be repaired in a file.
    """
    if evidence.facts is None:
        raise Failure(
            f"{evidence.source} has no log to repair: name its topic or database, such as kafka:HOST:PORT, and the "
            "registry that leads by --schema-registry-url"
        )
    if "TOPIC" in codes and evidence.topic is not None and not evidence.topic.servers:
        raise Failure(f"--repair TOPIC: {evidence.source} is a file; name the topic as kafka:HOST:PORT/TOPIC")
    log = plan(evidence.facts, evidence.view, codes, _now())
    configs = right_configs(evidence.topic) if evidence.topic is not None and "TOPIC" in codes else {}
    aborted = [finding for finding in findings if finding.code == "ABORTED_TAIL" and finding.code in codes]
    return Repairs(codes, log, configs, aborted)


def default_backup(folder: Path) -> Path:
    """The file of the backup before a repair, with the time in its name."""
    return folder / f"magicbyte-fsck-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}.ndjson.zst"


def back_up(source: RawSource, path: Path) -> int:
    """Write all records of the log to a file; return its size in bytes.

    Raises:
        Failure: The file is there already, or cannot be written.
        Unreachable: The log cannot be read.
    """
    from magicbyte.operations.backup.writing import write_raw  # noqa: PLC0415 - only before a repair

    if path.exists():
        raise Failure(f"{path} is there already, and a backup before a repair replaces no file: name another --backup")
    return write_raw(source, path, progress=lambda _: None).size


def repair_by_leader(end: RegistryEnd, source: Source, repairs: Repairs, tell: Callable[[str], None]) -> int:
    """Let the leader of a registry repair its log; return how many records it has appended.

    Args:
        end: Any node of the registry.
        source: The log that was checked and backed up, which has to be the registry's.
        repairs: The plan for it, which the leader makes anew from its own log.
        tell: Takes a line of progress.

    Raises:
        Failure: The registry refuses, has no such route, or its log is another one or has other faults.
        Unreachable: It does not answer, or refuses the client.
    """
    _require_same_log(end, source)
    body = {"codes": repairs.log_codes}
    theirs = [{name: one[name] for name in _COMPARED} for one in _repair(end, body, dry_run=True)["records"]]
    if theirs != _described(repairs):
        fault = "other faults" if theirs else "none of these faults"
        raise Failure(
            f"the log of {end.name} has {fault}: it is not {source.name}, or it has changed since that was read; "
            "nothing was written. Check it again"
        )
    written = 0
    while True:
        report = _repair(end, body, dry_run=False)
        written += len(report["records"])
        if not report["left"] or not report["records"]:
            return written
        tell(f"{plural(written, 'record')} written, {plural(report['left'], 'fault')} left")


def _require_same_log(end: RegistryEnd, source: Source) -> None:
    """Compare the ids of both logs, if the source is a log and the user may see the registry's."""
    if not isinstance(source, LogSource):
        return
    try:
        first, _, _ = end.exchange("GET", "/export", {"subject": _NO_SUBJECT}).partition(b"\n")
        theirs = orjson.loads(first).get("logId")
    except (RegistryError, orjson.JSONDecodeError, AttributeError):
        return
    if theirs and theirs != source.log_id:
        raise Failure(
            f"{end.name} is on another log than {source.name}, which alone was checked and backed up; nothing was "
            "written. Name the registry on it"
        )


def _described(repairs: Repairs) -> list[dict[str, Any]]:
    """The records of a plan as the route answers them."""
    return [
        {
            "code": step.finding.code,
            "offsets": list(step.finding.offsets),
            "key": shown_bytes(record.key),
            "tombstone": record.value is None,
        }
        for step in repairs.log.steps
        for record in step.records
    ]


def _repair(end: RegistryEnd, body: object, *, dry_run: bool) -> dict[str, Any]:
    try:
        answer: dict[str, Any] = end.call("POST", "/admin/repair", {"dryRun": "true" if dry_run else "false"}, body)
    except RegistryError as error:
        if error.status in (_NOT_FOUND, _METHOD_NOT_ALLOWED):
            raise Failure(
                f"{end.name} has no /admin/repair: it is no Magicbyte registry of this release. Stop all registries on "
                "the log and repair it with --offline"
            ) from None
        raise Failure(f"{end.name} refuses the repair: {error.message}") from None
    return answer


def set_configs(source: TopicSource, configs: dict[str, str]) -> None:
    """Change settings of the topic.

    Raises:
        Failure: Kafka refuses a value, or the client.
        Unreachable: Kafka does not answer.
    """
    entries = [ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET) for name, value in configs.items()]
    resource = ConfigResource(ResourceType.TOPIC, source.topic, incremental_configs=entries)
    try:
        admin = AdminClient(source.client)
        futures = admin.incremental_alter_configs([resource], request_timeout=_REQUEST_SECONDS)
        futures[resource].result(_REQUEST_SECONDS)
    except TimeoutError:
        raise Unreachable(f"{source.name}: its settings were not changed in time") from None
    except KafkaException as error:
        raise Failure(f"{source.name}: its settings cannot be changed: {error.args[0].str()}") from None


def _now() -> int:
    return time.time_ns() // 1_000_000
