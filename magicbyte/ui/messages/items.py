"""The items of an answer, which together have a largest size."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import orjson

from magicbyte.ui.messages.failure import Failure

T = TypeVar("T")


class Items:
    """The items of an answer, as JSON; what does not fit is replaced by a failure."""

    def __init__(self, most_bytes: int) -> None:
        """Begin without items.

        Args:
            most_bytes: The largest total size of the items; failures that replace others do not count.
        """
        self._most_bytes = self._left = most_bytes
        self._items: list[bytes] = []

    def add(self, make: Callable[[T], bytes], source: T) -> None:
        """Add the item that a function makes, if there is room for it; the function is not called without any."""
        item = make(source) if self._left > 0 else b""
        if not item or len(item) > self._left:
            item = orjson.dumps(self._too_large().members())
        else:
            self._left -= len(item)
        self._items.append(item)

    def joined(self) -> bytes:
        """The answer."""
        return b'{"data":[%b]}' % b",".join(self._items)

    def _too_large(self) -> Failure:
        limit = f"the items of an answer have at most {self._most_bytes} bytes (magicbyte.ui.messages.max.bytes)"
        return Failure("size", f"{limit}, and this one does not fit")
