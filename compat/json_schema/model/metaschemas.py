"""Checks schemas against the official metaschemas, and texts against regular expressions.

jsonschema-rs is imported on first use, because loading it takes longer than comparing most schemas.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from compat.json_schema.model.dialects import Dialect
from compat.schema import Pointer

_LONGEST_MESSAGE = 300
#: How many compiled regular expressions are cached.
REMEMBERED_PATTERNS = 1024


def violation(raw: Any, dialect: Dialect) -> tuple[str, Pointer] | None:
    """The message and the place of a schema's first violation of its draft's metaschema; None if there is none."""
    import jsonschema_rs  # noqa: PLC0415  see above

    # Name the chosen draft: the library would fetch an unknown metaschema.
    schema = {**raw, "$schema": dialect.url} if isinstance(raw, dict) else raw
    try:
        jsonschema_rs.meta.validate(schema)
    except jsonschema_rs.ValidationError as error:
        message = error.message
        if len(message) > _LONGEST_MESSAGE:
            message = f"{message[:_LONGEST_MESSAGE]}..."
        return message, tuple(error.instance_path)
    return None


def finds(pattern: str, text: str) -> bool:
    """Whether a regular expression matches in a text; False if it is invalid or takes too long."""
    finder = _finder(pattern)
    return finder is not None and finder(text)


@lru_cache(maxsize=REMEMBERED_PATTERNS)
def _finder(pattern: str) -> Callable[[str], bool] | None:
    import jsonschema_rs  # noqa: PLC0415  see above

    for options in (jsonschema_rs.RegexOptions(), jsonschema_rs.FancyRegexOptions(backtrack_limit=10_000)):
        try:
            validator = jsonschema_rs.Draft7Validator({"pattern": pattern}, pattern_options=options, offline=True)
        except (jsonschema_rs.ValidationError, ValueError):
            continue  # the linear engine has no look-around, the other engine has
        return validator.is_valid
    return None
