"""`magicbyte fsck`: check the log and the schemas of a registry, and repair what can be repaired.

The source is a topic, a database, a raw backup or a registry's URL; a URL shows the schemas alone.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from magicbyte.cli.flags import add_schema_registry_url
from magicbyte.cli.source_options import (
    FINDINGS,
    SOURCES,
    add_end,
    add_output,
    add_partial,
    ending,
    names,
    progress,
    properties_of,
)
from magicbyte.kit.command_line import CommandParser
from magicbyte.kit.failure import Failure
from magicbyte.kit.plural import plural

if TYPE_CHECKING:
    from magicbyte.operations.fsck.evidence import Evidence
    from magicbyte.operations.sources.opening import Properties
    from magicbyte.operations.sources.port import Source
    from registry.repair.finding import Finding

PROGRAM = "magicbyte fsck"


def _parser() -> CommandParser:
    parser = CommandParser(
        prog=PROGRAM,
        usage=f"{PROGRAM} SOURCE [OPTION ...]",
        description=__doc__,
        epilog="docs/fsck.md explains the codes.",
        examples=(
            f"{PROGRAM} kafka:localhost:9092",
            f"{PROGRAM} kafka:localhost:9092 --repair --dry-run",
            f"{PROGRAM} kafka:localhost:9092 --repair KEY_FORMS --schema-registry-url http://localhost:8081",
        ),
    )
    add = parser.add_argument
    add("source", metavar="SOURCE", help=SOURCES)
    add_end(parser)
    add("--ignore", type=names, default=(), metavar="NAME,..", help="leave out the findings of these codes")
    add("--topics", type=names, default=(), metavar="TOPIC,..", help="find out which of these topics use doubtful ids")
    add(
        "--bootstrap-servers",
        metavar="HOST:PORT,..",
        help="the brokers of --topics (default: those of a kafka: SOURCE)",
    )
    add(
        "--repair",
        nargs="*",
        metavar="CODE",
        help="repair the named codes, or all that lose nothing; needs --schema-registry-url or --offline",
    )
    add("--dry-run", action="store_true", help="tell what --repair would do, and do nothing")
    add_schema_registry_url(parser, "the registry on SOURCE, whose leader repairs it")
    add("--offline", action="store_true", help="repair without a registry; nodes that run are fenced")
    add(
        "--node-group",
        metavar="GROUP",
        default="schema-registry",
        help="schema.registry.group.id of the nodes, for --offline (default schema-registry)",
    )
    add_partial(parser)
    add("--backup", type=Path, metavar="FILE", help="where all records are written before a repair (default: here)")
    add_output(parser)
    return parser


def main(arguments: Sequence[str]) -> int:
    """Check a source, and repair it if that is asked for; returns the exit code."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.repair is None:
        for name in ("dry_run", "offline", "backup", "schema_registry_url"):
            if getattr(options, name):
                parser.error(f"--{name.replace('_', '-')} needs --repair")
    elif not options.dry_run and options.offline == bool(options.schema_registry_url):
        parser.error("--repair needs either --schema-registry-url, whose leader repairs the log, or --offline")
    return ending(lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    from magicbyte.operations.fsck.checks import CHECKS, run_checks  # noqa: PLC0415 - not for --help
    from magicbyte.operations.fsck.evidence import gather  # noqa: PLC0415
    from magicbyte.operations.fsck.repairing import chosen_codes  # noqa: PLC0415
    from magicbyte.operations.fsck.report import is_clean, to_json, to_lines  # noqa: PLC0415
    from magicbyte.operations.sources.opening import open_source  # noqa: PLC0415

    codes = None
    if options.repair is not None:
        codes = chosen_codes(code for text in options.repair for code in names(text))
    for code in options.ignore:
        if code not in CHECKS:
            raise Failure(f"--ignore {code}: there is no such code; there are {', '.join(CHECKS)}")
    properties = properties_of(options)
    with open_source(options.source, properties) as source:
        progress(f"reading {source.name}")
        evidence = gather(source, partial=options.partial)
        findings = run_checks(evidence, frozenset(options.ignore))
        if options.topics and any(finding.code == "ID_TWO_CONTENTS" for finding in findings):
            evidence = _with_users(options, properties, evidence, findings)
            findings = run_checks(evidence, frozenset(options.ignore))
        done: dict[str, Any] = {}
        if codes is not None:
            evidence, findings, done = _repair(options, properties, source, evidence, findings, codes)
    if options.output == "json":
        sys.stdout.write(json.dumps({**to_json(evidence, findings), **done}, indent=2) + "\n")
    else:
        _write_lines(to_lines(evidence, findings))
    return 0 if is_clean(findings) else FINDINGS


def _with_users(
    options: argparse.Namespace, properties: Properties, evidence: Evidence, findings: Sequence[Finding]
) -> Evidence:
    """The evidence with the topics that use ids of two schemas."""
    from magicbyte.operations.fsck.id_users import users_of_ids  # noqa: PLC0415 - only with --topics

    servers = options.bootstrap_servers or (evidence.topic.servers if evidence.topic else None)
    if servers is None:
        raise Failure("--topics needs --bootstrap-servers if SOURCE is no topic")
    ids = {finding.schema_id for finding in findings if finding.code == "ID_TWO_CONTENTS" and finding.schema_id}
    progress(f"counting the records of {', '.join(options.topics)}")
    return replace(evidence, users=users_of_ids(servers, properties.kafka, options.topics, ids))


def _repair(
    options: argparse.Namespace,
    properties: Properties,
    source: Source,
    evidence: Evidence,
    findings: list[Finding],
    codes: frozenset[str],
) -> tuple[Evidence, list[Finding], dict[str, Any]]:
    """Repair, and check again; a dry run writes what would be done. Returns what is so afterwards."""
    from magicbyte.operations.fsck.checks import run_checks  # noqa: PLC0415 - only with --repair
    from magicbyte.operations.fsck.evidence import gather  # noqa: PLC0415
    from magicbyte.operations.fsck.repairing import back_up, default_backup, plan_repairs  # noqa: PLC0415
    from magicbyte.operations.fsck.report import repairs_to_json, repairs_to_lines  # noqa: PLC0415
    from magicbyte.operations.sources.port import RawSource  # noqa: PLC0415

    repairs = plan_repairs(evidence, findings, codes)
    as_json = options.output == "json"
    if options.dry_run:
        if not as_json:
            _write_lines([*repairs_to_lines(repairs, offline=options.offline), ""])
        return evidence, findings, {"repair": {**repairs_to_json(repairs), "dryRun": True}}
    assert isinstance(source, RawSource)
    if repairs.is_empty:
        stay = sum(finding.code in repairs.log_codes for finding in findings)
        progress(
            "nothing can be repaired: a decision about ID_TWO_CONTENTS, or a key, is missing for "
            f"{plural(stay, 'finding')}"
            if stay
            else "nothing to repair"
        )
        return evidence, findings, {"repair": {**repairs_to_json(repairs), "dryRun": False}}
    backup = options.backup or default_backup(Path.cwd())
    size = back_up(source, backup)
    progress(f"{backup}: all records as they were, {size:,} bytes")
    written = _carry_out(options, properties, source, repairs)
    progress(f"{plural(written, 'record')} appended; reading {source.name} again")
    evidence = gather(source)
    findings = run_checks(evidence, frozenset(options.ignore))
    report = {**repairs_to_json(repairs), "dryRun": False, "written": written, "backup": str(backup)}
    return evidence, findings, {"repair": report}


def _carry_out(options: argparse.Namespace, properties: Properties, source: Any, repairs: Any) -> int:
    """Change the topic's settings, and append the records; returns how many."""
    from magicbyte.operations.fsck.offline import repair_offline  # noqa: PLC0415 - only for a repair
    from magicbyte.operations.fsck.repairing import repair_by_leader, set_configs  # noqa: PLC0415
    from magicbyte.operations.registry_end import RegistryEnd  # noqa: PLC0415

    if repairs.configs:
        set_configs(source, repairs.configs)
        progress(f"set {', '.join(f'{name}={value}' for name, value in repairs.configs.items())}")
    if options.offline:
        needs_records = repairs.log.steps or repairs.aborted
        return repair_offline(source, repairs.log_codes, options.node_group) if needs_records else 0
    if repairs.aborted:
        progress("ABORTED_TAIL: restart the leader of the registry: it writes the committed values when it takes over")
    if not repairs.log.steps:
        return 0
    with RegistryEnd(options.schema_registry_url, properties.registry) as end:
        return repair_by_leader(end, source, repairs, progress)


def _write_lines(lines: Iterable[str]) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))
