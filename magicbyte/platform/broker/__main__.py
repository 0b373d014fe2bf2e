"""`python -m magicbyte.platform.broker prepare`: have all that the first start would fetch and make."""

from __future__ import annotations

import argparse
import sys

from magicbyte.kit.failure import Failure, say
from magicbyte.platform.broker.local import prepare


def main() -> int:
    """Run the one command there is; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m magicbyte.platform.broker", description=__doc__)
    parser.add_argument("command", choices=("prepare",))
    parser.parse_args()
    try:
        prepare()
    except Failure as failure:
        say(str(failure))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
