"""The preflight of a migration: reads the origin and the target, runs all checks, and makes the plan."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from magicbyte.kit.failure import Failure
from magicbyte.kit.plural import plural
from magicbyte.kit.secret import hide_user_info
from magicbyte.operations.fsck.checks import remedy_of, run_checks, severity_of
from magicbyte.operations.fsck.evidence import gather, view_of
from magicbyte.operations.migration import features, lookups, topic_frames
from magicbyte.operations.migration.access_log import check_log
from magicbyte.operations.migration.finding import Finding, Severity
from magicbyte.operations.migration.histories import check_schemas
from magicbyte.operations.migration.kafka_rights import check_rights
from magicbyte.operations.migration.plan import Plan, Situation, make_plan
from magicbyte.operations.migration.target import check_defaults, check_target
from magicbyte.operations.registry_end import RegistryEnd
from magicbyte.operations.restore.faults import faults_of
from magicbyte.operations.servers import Server, ask, identify
from magicbyte.operations.sources.log_source import TopicSource
from magicbyte.operations.sources.opening import Properties, open_source
from magicbyte.operations.sources.port import RawSource, Reading, Source
from magicbyte.operations.sources.url import UrlSource
from magicbyte.operations.state import State
from registry.log.port import BEGINNING, Record
from registry.repair import finding as repair_finding
from registry.state import records
from registry.state.records import Key
from registry.state.view import View

DEFAULT_LEVEL = "BACKWARD"
#: A severity of fsck -> the code here.
_LOG_CODES = {
    repair_finding.Severity.ERROR: ("LOG", Severity.STOP),
    repair_finding.Severity.WARNING: ("LOG", Severity.WARNING),
    repair_finding.Severity.NOTE: ("LOG_NOTE", Severity.NOTE),
}
#: Codes of fsck that `faults_of` tells as well.
_SAME_AS_FAULTS = frozenset({"ID_TWO_CONTENTS", "DANGLING_REFERENCE", "REFERENCE_CYCLE"})


@dataclass(frozen=True, slots=True)
class Request:
    """The inputs of a preflight.

    Attributes:
        source: The origin: a URL, `kafka:`, `sqlite:` or `postgresql:`, or a backup's file.
        properties: How to connect to it.
        target: The URL of the target; None if there is none yet.
        target_properties: How to connect to the target.
        lookups: Files of producers' schemas.
        access_log: The origin's access log.
        topics: Topics whose records are sampled.
        consumer: The configuration of the consumer that reads them.
        bootstrap_servers: Their brokers; empty for those of a `kafka:` origin.
        group: `schema.registry.group.id` of the nodes to come.
        ignored: Codes of findings that are left out.
        configs: The files with the origin's credentials, for the commands of the plan.
        target_configs: Those of the target.
    """

    source: str
    properties: Properties = field(default_factory=Properties)
    target: str | None = None
    target_properties: Properties = field(default_factory=Properties)
    lookups: Sequence[Path] = ()
    access_log: Path | None = None
    topics: Sequence[str] = ()
    consumer: Mapping[str, Any] = field(default_factory=dict)
    bootstrap_servers: str = ""
    group: str = "schema-registry"
    ignored: frozenset[str] = frozenset()
    configs: Sequence[str] = ()
    target_configs: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a preflight.

    Attributes:
        origin: The origin's name, without secrets.
        server: The origin's server.
        target: The target's server; None without a target.
        counts: What the origin has, such as `versions` -> how many.
        findings: The findings, the worst first.
        plan: The plan.
    """

    origin: str
    server: Server
    target: Server | None
    counts: Mapping[str, int]
    findings: Sequence[Finding]
    plan: Plan

    @property
    def is_ready(self) -> bool:
        """Whether no finding stops the migration."""
        return all(finding.weight is not Severity.STOP for finding in self.findings)


@dataclass(slots=True)
class _Origin:
    """The state of the origin as it was read, and the facts about its server."""

    name: str
    state: State
    view: View
    defaults: Mapping[str, str]
    server: Server
    end: RegistryEnd | None
    findings: list[Finding]


def run_preflight(request: Request, progress: Callable[[str], None] = lambda _: None) -> Outcome:
    """Check a migration; nothing is written anywhere.

    Args:
        request: What is asked.
        progress: Receives a line before each part that may take long.

    Raises:
        Unreachable: An end does not answer, or refuses the client.
        Failure: An argument or a file is wrong.
    """
    # Wrong files are told before a registry is read for minutes.
    producers = lookups.read_producers(request.lookups)
    with ExitStack() as stack:
        source = stack.enter_context(open_source(request.source, request.properties))
        progress(f"reading {source.name}")
        origin = _read(source, request)
        findings = origin.findings
        level = origin.defaults.get("compatibilityLevel", DEFAULT_LEVEL)
        findings += [Finding("FAULT", fault.sentence) for fault in faults_of(origin.state)]
        findings += features.check_state(origin.state)
        progress(f"checking {plural(len(origin.state.versions), 'version')}")
        findings += check_schemas(origin.view, level)
        if origin.end is not None:
            findings += features.check_services(origin.end)
        if isinstance(source, TopicSource):
            progress(f"asking {source.servers} for the rights of the client")
            is_ours = origin.view.settled_offset not in (None, BEGINNING)
            findings += check_rights(source.client, source.topic, request.group, is_ours=is_ours)
        if producers:
            progress(f"looking {len(producers):,} schemas up")
            findings += lookups.check_lookups(producers, origin.view, level, origin.end)
        if request.access_log is not None:
            findings += check_log(request.access_log)
        findings += _topics(request, source, origin.state, progress)
        target = _target(request, origin, findings, progress)
        return Outcome(
            origin.name,
            origin.server,
            target,
            _counts(origin.state),
            sorted(
                (finding for finding in findings if finding.code not in request.ignored),
                key=lambda finding: finding.sort_key,
            ),
            make_plan(_situation(request, source, origin.server)),
        )


def _read(source: Source, request: Request) -> _Origin:
    if isinstance(source, UrlSource):
        server = identify(source.end, request.source, request.properties.registry)
        return _of_reading(source, server, source.end)
    if not isinstance(source, RawSource):
        return _of_reading(source, Server("", evidence="a file"), None)
    evidence = gather(source)
    state = State.of_view(evidence.view)
    findings = [Finding("READING", note) for note in evidence.notes]
    for found in run_checks(evidence, _SAME_AS_FAULTS):
        code, severity = _LOG_CODES[severity_of(found)]
        findings.append(
            Finding(code, f"{found.code}: {found.sentence}", remedy_of(found), found.subject or "", severity)
        )
    return _Origin(source.name, state, evidence.view, {}, Server("", evidence="its log alone"), None, findings)


def _of_reading(source: Source, server: Server, end: RegistryEnd | None) -> _Origin:
    reading = source.read()
    view = view_of(reading.state)
    for subject, config in reading.state.configs.items():
        key = Key(records.CONFIG, subject)
        view.apply_record(_record(key, records.encode_config(key, config)))
    findings = [Finding("READING", note) for note in reading.notes] + _withheld(source, reading)
    return _Origin(source.name, reading.state, view, reading.origin.defaults, server, end, findings)


def _withheld(source: Source, reading: Reading) -> list[Finding]:
    return [Finding("PARTIAL", f"{source.name}: {sentence}") for sentence in reading.withheld]


def _record(key: Key, value: bytes) -> Record:
    """A record of a log with a key and a value."""
    return Record(records.encode_key(key), value, 0)


def _topics(request: Request, source: Source, state: State, progress: Callable[[str], None]) -> Iterator[Finding]:
    if not request.topics:
        return
    brokers = request.bootstrap_servers or (source.servers if isinstance(source, TopicSource) else "")
    if not brokers:
        raise Failure("--topics needs --bootstrap-servers if the origin is no topic")
    ids = {version.schema_id for version in state.versions.values()}
    progress(f"sampling {', '.join(request.topics)}")
    for frames in topic_frames.sample(request.topics, ids, request.consumer, _PATIENCE):
        yield from topic_frames.findings_of(frames, ids)


_PATIENCE = 20.0


def _target(
    request: Request, origin: _Origin, findings: list[Finding], progress: Callable[[str], None]
) -> Server | None:
    if request.target is None:
        return None
    with open_source(request.target, request.target_properties) as source:
        if not isinstance(source, UrlSource):
            raise Failure(f"--to {source.name}: name the URL of the registry that the migration goes to")
        progress(f"reading {source.name}")
        server = identify(source.end, request.target, request.target_properties.registry)
        reading = source.read()
        findings += _withheld(source, reading)
        findings += check_target(origin.state, reading.state, server)
        level = ask(source.end, "/config")
        if isinstance(level, dict) and None not in origin.state.configs:
            findings += check_defaults(origin.defaults, str(level.get("compatibilityLevel")))
    return server


def _situation(request: Request, source: Source, server: Server) -> Situation:
    target = hide_user_info(request.target) if request.target else ""
    return Situation(
        server.vendor,
        source.name,
        target,
        request.topics,
        request.bootstrap_servers,
        request.configs,
        request.target_configs,
    )


def _counts(state: State) -> dict[str, int]:
    return {
        "contexts": len(state.contexts),
        "subjects": len({subject for subject, _ in state.versions}),
        "versions": len(state.versions),
        "ids": len({version.schema_id for version in state.versions.values()}),
    }
