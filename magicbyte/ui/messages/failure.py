"""Failures in the words of the page: the reason in one word, a sentence, and the place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from serdes.error import (
    InvalidMessageIndexes,
    NotAuthorized,
    PayloadError,
    RegistryError,
    RegistryUnavailable,
    RulesNotSupported,
    SchemaCompileError,
    SchemaNotFound,
    SerdesError,
    SubjectNotFound,
    TruncatedMessage,
    ValueTooLarge,
    VersionNotFound,
    WrongMagic,
)
from serdes.rules.error import RuleFailed
from serdes.rules.inline.rule import ValidationRulesFailed
from serdes.text.text_serdes import BadText

#: Errors that end the worker instead of failing an item: no memory is left, or the server has gone.
ENDING = (MemoryError, EOFError, BrokenPipeError, ConnectionResetError)
#: The longest text of an error: a library may repeat a whole schema or value.
_LONGEST = 2_000


class Failure(NamedTuple):
    """The reason why an item has no result.

    Attributes:
        reason: One word for programs: `magic`, `truncated`, `indexes`, `unknown`, `payload`, `value`, `schema`,
            `rules`, `rights`, `registry`, `base64`, `size` or `other`.
        error: The sentence.
        at: The byte of the message, or the character of the value, at fault; None if unknown.
        path: The path to the value at fault.
    """

    reason: str
    error: str
    at: int | None = None
    path: str | None = None

    def members(self) -> dict[str, str | int | None]:
        """The members of the answer."""
        path = {} if self.path is None else {"path": self.path}
        return {"error": self.error[:_LONGEST], "reason": self.reason, "at": self.at, **path}


def _magic(error: WrongMagic) -> Failure:
    text = f"the first byte is {error.magic}, not 0 or 1: the message does not begin with a schema id"
    return Failure("magic", text, 0)


#: Class of an exception, and the function that makes its failure; the first row that matches applies.
_FAILURES: tuple[tuple[type[Exception], Callable[[Any], Failure]], ...] = (
    (WrongMagic, _magic),
    (TruncatedMessage, lambda error: Failure("truncated", str(error), error.size)),
    (InvalidMessageIndexes, lambda error: Failure("indexes", str(error), 5)),
    (PayloadError, lambda error: Failure("payload", error.problem, error.offset)),
    (BadText, lambda error: Failure("value", error.problem, error.offset, error.path)),
    (ValueTooLarge, lambda error: Failure("size", f"{error} (magicbyte.ui.messages.max.bytes)")),
    (RulesNotSupported, lambda error: Failure("rules", str(error))),
    (RuleFailed, lambda error: Failure("rules", str(error))),
    (ValidationRulesFailed, lambda error: Failure("rules", str(error))),
    (SchemaNotFound, lambda error: Failure("unknown", error.message)),
    (SubjectNotFound, lambda error: Failure("unknown", error.message)),
    (VersionNotFound, lambda error: Failure("unknown", error.message)),
    (NotAuthorized, lambda error: Failure("rights", error.message)),
    (RegistryError, lambda error: Failure("registry", error.message)),
    (RegistryUnavailable, lambda _: Failure("registry", "the registry does not answer")),
    (SchemaCompileError, lambda error: Failure("schema", str(error))),
    (SerdesError, lambda error: Failure("other", str(error))),
    (Exception, lambda error: Failure("other", f"it cannot be converted: {type(error).__name__}")),
)


def failure_of(error: Exception) -> Failure:
    """The failure that an exception of the serdes means."""
    return next(make(error) for kind, make in _FAILURES if isinstance(error, kind))
