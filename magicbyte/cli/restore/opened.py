"""Opening the source of `restore` and `verify`, which may be a file that was cut."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from magicbyte.cli.source_options import properties_of
from magicbyte.operations.restore.cut_file import mend_cut_file
from magicbyte.operations.sources.opening import open_source
from magicbyte.operations.sources.port import Source


@contextmanager
def opened(options: argparse.Namespace) -> Iterator[tuple[Source, bool]]:
    """Open the source; yields it, and whether it is what is left of a file that was cut."""
    with tempfile.TemporaryDirectory(prefix="magicbyte-cut-") as folder:
        name, path = options.source, Path(options.source)
        mended = mend_cut_file(path, Path(folder)) if options.cut_file and path.is_file() else None
        with open_source(name if mended is None else str(mended), properties_of(options)) as source:
            yield source, mended is not None
