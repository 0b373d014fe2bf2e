"""Logs made by hand: the records of versions and settings, as a registry writes them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from registry.log.port import Record
from registry.log.sql import SqlLog


def record_of(line: Mapping[str, Any]) -> tuple[bytes, bytes | None]:
    """The key and the value of the record that a line of an export stands for."""
    match line["kind"]:
        case "schema":
            key = {"keytype": "SCHEMA", "subject": line["subject"], "version": line["version"], "magic": 1}
            value = {name: part for name, part in line.items() if name not in ("kind", "guid", "ts")}
            value.setdefault("deleted", False)
        case "config":
            key = {"keytype": "CONFIG", "subject": line.get("subject"), "magic": 0}
            value = dict(line["config"])
        case "mode":
            key = {"keytype": "MODE", "subject": line.get("subject"), "magic": 0}
            value = {"mode": line["mode"]}
        case "context":
            key = {"keytype": "CONTEXT", "tenant": "default", "context": line["context"], "magic": 0}
            value = {"tenant": "default", "context": line["context"]}
    kept = {name: part for name, part in key.items() if part is not None}
    return json.dumps(kept, separators=(",", ":")).encode(), json.dumps(value, separators=(",", ":")).encode()


def write_database(file: Path, lines: Iterable[Mapping[str, Any]]) -> str:
    """Make a SQLite log of lines of an export, and return its URL."""
    url = f"sqlite:///{file}"
    log = SqlLog(url)
    try:
        records = [Record(*record_of(line), int(line.get("ts", 5))) for line in lines]
        log.append(records, log.end())
    finally:
        log.close()
    return url
