"""Events, and what pipelines over them need."""

from __future__ import annotations

import json

EVENT = json.dumps(
    {
        "type": "record",
        "name": "Event",
        "fields": [
            {"name": "id", "type": "int"},
            {"name": "k", "type": "string"},
            {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        ],
    }
)
MINUTE = 60_000

#: The sink of pipelines whose rows are groups; the fixture `sink` takes its place.
GROUPS = "{files: {path: unused, time: window_start}}"
