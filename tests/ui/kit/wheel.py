"""The packages as the wheel has them, with the built page."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[3]


@contextmanager
def unzipped_wheel() -> Iterator[Path]:
    """Build the wheel; the folder that it is unzipped to stands in PYTHONPATH before the checkout."""
    with tempfile.TemporaryDirectory(prefix="magicbyte-wheel-") as name:
        command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", name]
        subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        (wheel,) = Path(name).glob("*.whl")
        folder = Path(name, "unzipped")
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
        yield folder
