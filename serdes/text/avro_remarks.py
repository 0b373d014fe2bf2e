"""Remarks on an Avro message: what the reader's schema adds and skips, and keys that a map has twice."""

from __future__ import annotations

from serdes.codec import AvroCodec
from serdes.codec.decode import walk
from serdes.codec.forms.form import json_form
from serdes.text.remark import Examine, Remarks

_TEXTS = {
    "default": "the writer's schema has no such field; this is the default of the reader's",
    "skipped-field": "the reader's schema has no such field",
    "double-key": "the map has this key more than once; the last of its values is shown",
}


def examiner(codec: AvroCodec) -> Examine:
    """The examiner of the messages of a codec's schemas."""
    form = json_form(plain=True, defaults=False)

    def examine(message: bytes, offset: int) -> Remarks:
        remarks = Remarks()
        if not codec.is_raw:
            walk.decode(codec.plan, message, offset, form, lambda path, kind: remarks.add(path, kind, _TEXTS[kind]))
        return remarks

    return examine
