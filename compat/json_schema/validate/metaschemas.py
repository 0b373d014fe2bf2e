"""Validators of the official drafts: metaschema checks, and instances against schemas.

jsonschema-rs is imported when it is first needed: it takes longer to load than most schemas take to compare.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from compat.json_schema.model.dialects import Dialect
from compat.schema import Pointer

_LONGEST_MESSAGE = 300
#: How many regular expressions are kept compiled.
REMEMBERED_PATTERNS = 1024


def violation(raw: Any, dialect: Dialect) -> tuple[str, Pointer] | None:
    """What a draft's metaschema has against a schema, and where; None where it has nothing."""
    import jsonschema_rs  # noqa: PLC0415  see above

    # The draft is the one that was decided on: the library would fetch a metaschema it does not know.
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
    """Whether a regular expression finds something in a text; one that is none or takes too long does not."""
    finder = _finder(pattern)
    return finder is not None and finder(text)


@lru_cache(maxsize=REMEMBERED_PATTERNS)
def _finder(pattern: str) -> Callable[[str], bool] | None:
    import jsonschema_rs  # noqa: PLC0415  see above

    for options in (jsonschema_rs.RegexOptions(), jsonschema_rs.FancyRegexOptions(backtrack_limit=10_000)):
        try:
            validator = jsonschema_rs.Draft7Validator({"pattern": pattern}, pattern_options=options, offline=True)
        except (jsonschema_rs.ValidationError, ValueError):
            continue  # the linear engine has no look-around, the other one has
        return validator.is_valid
    return None
