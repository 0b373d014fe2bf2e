"""Run the few tests that failed in the last run once more, and name those that pass now.

A test that fails once in a while is a defect, of the test or of the product; it is named here so that it gets mended.
It does not hide what the other thousands of tests say of a change. More than a few failures are no chance: they are not
run again.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

_MOST = 3
_LAST_FAILED = Path(".pytest_cache/v/cache/lastfailed")


def failed_tests() -> list[str]:
    """The ids of the tests that failed in the last run."""
    failed = json.loads(_LAST_FAILED.read_text()) if _LAST_FAILED.exists() else {}
    return sorted(failed)


def main() -> int:
    """Run them again and return the exit code: 0 only if there were a few, and all of them pass now."""
    failed = failed_tests()
    if not 0 < len(failed) <= _MOST:
        sys.stderr.write(f"{len(failed)} tests failed; they are not run again\n")
        return 1
    again = [sys.executable, "-P", "-m", "pytest", "-m", "", *failed]
    code = subprocess.run(again, check=False).returncode
    verdict = "failed again" if code else "FAILED ONCE AND PASSED ONCE, a defect to mend"
    sys.stderr.write("".join(f"{verdict}: {test}\n" for test in failed))
    return code


if __name__ == "__main__":
    sys.exit(main())
