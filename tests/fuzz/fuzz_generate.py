"""Fuzzing of `magicbyte generate`: random Avro schemas and JSON Schemas with hostile names, texts and defaults.

Run `python tests/fuzz/fuzz_generate.py --seconds 600 --seed 1`; a failure prints the seed of its round. The test suite
draws from the same makers within bounds.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.generate.test_random_schemas import check_avro, check_json


def main() -> int:
    """Rounds until the time is up."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    end, seed = time.monotonic() + options.seconds, options.seed
    while time.monotonic() < end:
        check = check_avro if seed % 2 else check_json
        with TemporaryDirectory() as folder:
            sys.path.insert(0, folder)
            try:
                check(random.Random(seed), Path(folder))
            except Exception:
                sys.stderr.write(f"failed with --seed {seed}\n")
                raise
            finally:
                sys.path.remove(folder)
        seed += 1
    sys.stdout.write(f"{seed - options.seed} rounds, seeds {options.seed} to {seed - 1}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
