"""The parts of a letter's record, and the formats that they may have."""

from __future__ import annotations

PARTS = ("key", "value")
#: Formats of a key or value: by its frame if it has one; framed in any case; JSON without a frame; anything.
AUTO, SCHEMA, PLAIN_JSON, BYTES = "auto", "schema", "json", "bytes"
FORMATS = (AUTO, SCHEMA, PLAIN_JSON, BYTES)
