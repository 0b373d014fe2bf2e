"""Reading JSON with orjson. Lack of memory, which orjson reports as a fault in the text, is a MemoryError here."""

from __future__ import annotations

from typing import Any

import orjson

#: How orjson's message about memory begins, from 3.11 on and before. Reading needs about 12 times the text's size.
_NO_MEMORY = ("Not enough memory", "memory allocation failed")


def load_json(text: bytes | str) -> Any:
    """Read a JSON text.

    Raises:
        orjson.JSONDecodeError: The text is not JSON.
        MemoryError: There is not enough memory to read it.
    """
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        if error.msg.startswith(_NO_MEMORY):
            raise MemoryError(f"not enough memory to read {len(text)} bytes of JSON") from None
        raise
