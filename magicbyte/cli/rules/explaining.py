"""`magicbyte rules explain`: the rules of a version in the order in which they run, and the fields that they touch."""

from __future__ import annotations

import argparse
import json
import sys

from magicbyte.cli.records.rule_plans import origins, plan_of, registered, text_of
from magicbyte.cli.rules.ruled_schema import client_and_settings


def run(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:  # noqa: ARG001  the signature of all
    """Write the plan; returns the exit code."""
    client, _ = client_and_settings(options)
    ruled = registered(client, options.subject, options.version)
    plan = plan_of(ruled, origins(client, options.subject, ruled), options.environment)
    lines = [json.dumps(plan, ensure_ascii=False)] if options.output == "json" else list(text_of(plan, ruled.name))
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    return 0
