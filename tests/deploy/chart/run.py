"""`make chart-test`: gets Helm and the schemas of custom resources, and runs the chart's tests.

If a tool cannot be had, this says so in one line; with CI=true it also fails.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from magicbyte.kit.failure import Failure
from tests.deploy.chart.custom_resources import ensure_schemas
from tests.deploy.chart.helm import ensure_helm


def main(arguments: Sequence[str]) -> int:
    """Run pytest with further arguments; returns the exit code."""
    try:
        ensure_helm()
        ensure_schemas()
    except Failure as error:
        sys.stderr.write(f"the chart is not tested: {error}\n")
        return 1 if os.environ.get("CI") == "true" else 0
    tests = [sys.executable, "-P", "-m", "pytest", "-m", "chart", str(Path(__file__).parent), *arguments]
    return subprocess.run(tests, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
