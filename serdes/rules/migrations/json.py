"""The form of JSON data in migrations: the data itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from serdes.rules.jsonata.document import datum
from serdes.rules.migrations.migrated import Read, Written


def json_form(decode: Callable[[bytes, int], Any], check: Callable[[Any], Any] | None = None) -> Read:
    """Rules see the JSON value.

    Args:
        decode: The decoder without a validation.
        check: Validates the datum by the reader's schema before the domain rules; None if it is validated later.
    """

    def take(value: Any) -> Any:
        plain = datum(value)
        if check is not None:
            check(plain)
        return plain

    return lambda message, offset: Written(decode(message, offset), take)
