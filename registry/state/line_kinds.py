"""The kinds of lines of an export, for all that read one: imports, and commands that take a file."""

from __future__ import annotations

from collections.abc import Mapping

MANIFEST = "manifest"
#: The kind of the last line of an export.
CLOSING = "end"
#: The mark of a mirror that writes into the original; it does not write into a copy.
MIRRORED = "mirrored"
#: The kinds that are the state of a registry -> how a backup's manifest counts them.
STATE_KINDS: Mapping[str, str] = {"context": "contexts", "schema": "schemas", "config": "configs", "mode": "modes"}
#: The kinds that an export has besides, and that change nothing in a copy.
PASSED_OVER = frozenset({MANIFEST, MIRRORED, CLOSING})
