"""`magicbyte upgrade check`: settings, records and nodes, before a release is changed."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator

from magicbyte import __version__
from magicbyte.cli.flags import kafka_properties
from magicbyte.cli.source_options import FINDINGS, progress
from magicbyte.cli.upgrade.client import client_properties
from magicbyte.kit.extras import require
from magicbyte.kit.failure import Failure
from magicbyte.kit.inert import inert_lines
from magicbyte.operations.registry_end import RegistryEnd
from magicbyte.operations.sources.opening import Properties, open_source
from magicbyte.operations.upgrade.findings import Finding, Severity
from magicbyte.operations.upgrade.log_check import check_log
from magicbyte.operations.upgrade.nodes import check_nodes, node_state
from magicbyte.operations.upgrade.releases import THIS_RELEASE, Release, release_of
from serdes.error import ConfigError

_NODE_SECONDS = "10"


def run_check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Print what stands against the upgrade; returns 100 if something does.

    Raises:
        Failure: A file cannot be read, or the release is unknown.
        Unreachable: A source or a node does not answer.
    """
    if options.source is None and not options.config and not options.nodes:
        parser.error("name what to check: SOURCE, --config or --node")
    target = THIS_RELEASE if options.to is None else release_of(options.to)
    if target > THIS_RELEASE:
        raise Failure(f"this is {__version__}, which does not know {options.to}: run the check of that release")
    findings = list(_findings(options, target))
    problems = [finding for finding in findings if finding.severity is Severity.PROBLEM]
    if options.output == "json":
        value = {
            "release": ".".join(map(str, target)),
            "problems": len(problems),
            "findings": [finding.to_json() for finding in findings],
        }
        sys.stdout.write(json.dumps(value, indent=2) + "\n")
    else:
        for finding in findings:
            remedy = f"; {finding.remedy}" if finding.remedy else ""
            sys.stdout.write(inert_lines(f"{finding.severity}: {finding.where}: {finding.text}{remedy}") + "\n")
        progress("nothing stands against it" if not problems else f"problems: {len(problems)}")
    return FINDINGS if problems else 0


def _findings(options: argparse.Namespace, target: Release) -> Iterator[Finding]:
    if options.config:
        require("server", user="`magicbyte upgrade check --config`")
        from magicbyte.cli.upgrade.config_files import check_file  # noqa: PLC0415  it needs the extra

        for file in options.config:
            yield from check_file(file, options.server, target)
    client = client_properties(options)
    if options.nodes:
        states = []
        for url in options.nodes:
            with RegistryEnd(url, {"timeout": _NODE_SECONDS, **client, "max.retries": "0"}) as end:
                states.append(node_state(end))
        yield from check_nodes(states, target)
    if options.source is not None:
        with open_source(options.source, Properties(client, _kafka(options))) as source:
            yield from check_log(source, target)


def _kafka(options: argparse.Namespace) -> dict[str, str]:
    try:
        return kafka_properties(options)
    except ConfigError as error:
        raise Failure(str(error)) from None
