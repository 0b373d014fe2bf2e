"""`magicbyte dead-letter purge`: deletes each partition's replayed letters, up to the first one not replayed."""

from __future__ import annotations

import argparse
import json
import sys

from magicbyte.cli.dead_letter.options import letters_topic
from magicbyte.dead_letters.purging import purge
from serdes.console.outcome import OK


def run(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Delete letters, and write to stdout how many."""
    del parser
    topic = letters_topic(options)
    try:
        purged = purge(topic, dry_run=options.dry_run)
    finally:
        topic.close()
    deleted = purged.deleted
    outcome = {"topic": topic.name, "dryRun": options.dry_run, "deleted": deleted, "offsets": purged.firsts}
    if options.output == "json":
        sys.stdout.write(json.dumps(outcome, indent=2) + "\n")
    else:
        verb = "would be deleted" if options.dry_run else "deleted"
        sys.stdout.write(f"{topic.name}: {deleted:,} {'letter' if deleted == 1 else 'letters'} {verb}\n")
    return OK
