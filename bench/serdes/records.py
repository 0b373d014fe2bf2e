"""Codecs of generated records beside those of dicts: microseconds of CPU a datum, interleaved in one run.

bench/kit/pairs.py says what the columns are; the ratio is records to dicts. Run
`PYTHONPATH=bench/kit python -P bench/serdes/records.py`: -P, so that no file of this folder stands for a package.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import avro_data
from pairs import Pair, options_of, print_pairs

from magicbyte.generate.model import Source
from magicbyte.generate.modules import record_files
from serdes.codec import compile_codec

#: Generated modules are named by the namespace.
ORDER = {**avro_data.ORDER, "name": "Order", "namespace": "bench"}
LOGICAL = {**avro_data.LOGICAL, "namespace": "bench"}
EVENTS: dict[str, Any] = {
    "type": "record",
    "name": "Envelope",
    "namespace": "bench",
    "fields": [
        {
            "name": "event",
            "type": avro_data.EVENTS,
        }
    ],
}
OLD = {**ORDER, "fields": [field for field in ORDER["fields"] if field["name"] != "attributes"]}
NEW = {**ORDER, "fields": [*OLD["fields"], {"name": "channel", "type": "string", "default": "web"}]}


def class_of(schema: Any, folder: Path, *, frozen: bool) -> Any:
    """The class of a schema, generated and imported."""
    files = record_files([Source("AVRO", json.dumps(schema), origin="bench", stem="bench")], frozen=frozen)
    name = f"generated_{schema['name'].lower()}_{len(list(folder.iterdir()))}"
    (folder / name).mkdir()
    for path, text in files.items():
        (folder / name / path).write_text(text)
    importlib.invalidate_caches()
    return getattr(importlib.import_module(f"{name}.bench"), schema["name"])


def rows_of(name: str, schema: Any, datum: Any, folder: Path, *, frozen: bool = False) -> Iterator[Pair]:
    """Writing and reading of one datum."""
    cls = class_of(schema, folder, frozen=frozen)
    text = json.dumps(schema)
    dicts, records = compile_codec(text), compile_codec(text, record=cls)
    content = dicts.encode(datum)
    instance = records.decode(content)
    if records.encode(instance) != content or not isinstance(instance, cls):
        raise AssertionError(name)
    yield Pair(f"{name}: write", lambda: records.encode(instance), lambda: dicts.encode(datum))
    yield Pair(f"{name}: read", lambda: records.decode(content), lambda: dicts.decode(content))


def resolving(folder: Path) -> Pair:
    """Reading of older data, with a default and a field that is dropped."""
    cls = class_of(NEW, folder, frozen=False)
    content = compile_codec(json.dumps(ORDER)).encode(avro_data.AN_ORDER)
    dicts = compile_codec(json.dumps(ORDER), json.dumps(NEW))
    records = compile_codec(json.dumps(ORDER), json.dumps(NEW), record=cls)
    return Pair("order: read as another version", lambda: records.decode(content), lambda: dicts.decode(content))


def main() -> int:
    """All rows."""
    options = options_of(__doc__)
    with TemporaryDirectory() as name:
        folder = Path(name)
        sys.path.insert(0, name)
        rows = [
            *rows_of("order", ORDER, avro_data.AN_ORDER, folder),
            *rows_of("order, frozen", ORDER, avro_data.AN_ORDER, folder, frozen=True),
            *rows_of("logical types", LOGICAL, avro_data.A_LOGICAL, folder),
            *rows_of("union of 4 records", EVENTS, {"event": ("bench.Event3", {"id": 7, "only3": "x"})}, folder),
            resolving(folder),
        ]
        print_pairs(rows, options, ours="records us", other="dicts", key="dict_us")
    return 0


if __name__ == "__main__":
    sys.exit(main())
