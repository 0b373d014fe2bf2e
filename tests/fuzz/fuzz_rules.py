"""Random rule sets in this library and in confluent-kafka, in both roles: the same messages, and the same verdicts.

Run `python -P tests/fuzz/fuzz_rules.py --cases 500 --seed 1`; it prints each difference and exits with 1 if there is
one.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[2]))

from magicbyte.testing import running_registry
from tests.serdes.rules.random_rules import Both


def main() -> int:
    """Compares random cases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    count = 0
    with running_registry(properties={"magicbyte.rules.check": "off"}) as registry:
        both = Both(registry.url)
        for number in range(arguments.cases):
            for difference in both.differences(number, Random(arguments.seed * 1_000_003 + number)):
                count += 1
                print(difference, flush=True)
    print(f"{arguments.cases} cases, {count} differences")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
