"""JSON as orjson reads it, but for a lack of memory, which orjson calls a fault of the text."""

from __future__ import annotations

from typing import Any

import orjson

#: How orjson's message about memory begins, from 3.11 on and before; it needs about twelve times a text's size.
_NO_MEMORY = ("Not enough memory", "memory allocation failed")


def load_json(text: bytes | str) -> Any:
    """Read a JSON text.

    Raises:
        orjson.JSONDecodeError: The text is not JSON.
        MemoryError: There is not enough memory to tell.
    """
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        if error.msg.startswith(_NO_MEMORY):
            raise MemoryError(f"not enough memory to read {len(text)} bytes of JSON") from None
        raise
