"""`python -m magicbyte.platform.broker prepare`: fetch and make everything that a broker's first start needs."""

from __future__ import annotations

import argparse
import sys

from magicbyte.kit.failure import Failure, say
from magicbyte.platform.broker.local import prepare


def main() -> int:
    """Run the only command and return the exit code."""
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
