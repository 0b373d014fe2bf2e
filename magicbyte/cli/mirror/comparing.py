"""`magicbyte mirror --compare-requests`: how A and B answer the same read requests."""

from __future__ import annotations

import argparse
import json
import sys

from magicbyte.cli.source_options import FINDINGS, progress
from magicbyte.kit.failure import Failure
from magicbyte.kit.plural import plural
from magicbyte.operations.mirror.requests import compare_requests, read_requests
from magicbyte.operations.registry_end import RegistryEnd
from magicbyte.operations.sources.opening import Properties


def compare(options: argparse.Namespace, left: Properties, right: Properties) -> int:
    """Compare the answers; returns 100 if some differ.

    Raises:
        Failure: The file has no request, or an option is for mirrors of other names.
    """
    if options.context != "none" or options.rename != "${subject}":
        raise Failure("--compare-requests sends the same paths to both: use it without --context and --rename")
    paths, left_out = read_requests(options.compare_requests)
    if not paths:
        raise Failure(f"{options.compare_requests} has no GET request about schemas")
    with RegistryEnd(options.source, left.registry) as source, RegistryEnd(options.target, right.registry) as target:
        report = compare_requests(source, target, paths, left_out=left_out)
    if options.output == "json":
        different = [one.to_json() for one in report.different]
        value = {"asked": report.asked, "leftOut": report.left_out, "different": different}
        sys.stdout.write(json.dumps(value, indent=2) + "\n")
    else:
        sys.stdout.write("".join(f"{one.text()}\n" for one in report.different))
    progress(
        f"{plural(report.asked, 'request')} sent to both, {len(report.different)} answered differently; "
        f"{plural(report.left_out, 'line')} left out: no read of schemas"
    )
    return FINDINGS if report.different else 0
