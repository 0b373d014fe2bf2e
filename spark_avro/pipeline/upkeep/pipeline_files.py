"""Finds the pipeline files of folders."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from magicbyte.kit.bounded_file import read_bounded

_ENDS = (".yaml", ".yml")
#: Settings at the top of a pipeline; a file with three of them is meant as one, whether or not it can be read.
_SETTINGS = re.compile(r"""^["']?(version|name|include|checkpoint|source|sinks?)["']?[ \t]*:""", re.MULTILINE)
_ENOUGH = 3
#: The bytes in which these settings are looked for.
_LOOK = 1024 * 1024


def yaml_files(folder: Path) -> Iterator[Path]:
    """The YAML files below a folder in the order of their paths; hidden folders, and links to folders, are left out."""
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(parent, name) for name in sorted(names) if name.endswith(_ENDS))


def is_pipeline_file(file: Path) -> bool:
    """Whether a file is meant as a pipeline: by its settings, so that one with an error in its YAML is, too.

    A file that cannot be read counts as one: reading it again tells why.
    """
    try:
        text = read_bounded(file, most=_LOOK, cut=True).decode(errors="replace")
    except OSError:
        return True
    return len({match[1].rstrip("s") for match in _SETTINGS.finditer(text)}) >= _ENOUGH
