"""The exceptions of rules: what stops a message, and why."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from compat.contracts.model import Rule
from serdes.error import SerializationError


class RuleError(Exception):
    """A rule failed or cannot be carried out; the text has no value of the message. confluent-kafka's name."""


class RuleConditionError(RuleError):
    """A condition is false; confluent-kafka's name and text."""

    def __init__(self, rule: Any) -> None:
        """Make the error of a rule: one of the model, or one with confluent-kafka's attributes."""
        super().__init__(self.error_message(rule))

    def __reduce__(self) -> Any:
        """A copy in another process has the text alone."""
        return _condition_error, (str(self),)

    @staticmethod
    def error_message(rule: Any) -> str:
        """The rule's doc, else its expression, else its name."""
        if rule.doc:
            return str(rule.doc)
        return f"Rule expr failed: {rule.expr}" if rule.expr else f"Rule failed: {rule.name}"


def _condition_error(text: str) -> RuleConditionError:
    error = RuleConditionError.__new__(RuleConditionError)
    error.args = (text,)
    return error


class RuleUnusable(RuleError):
    """A rule that cannot be carried out for any message; the text says why, and what to do."""


class RuleRefused(RuleUnusable):
    """A rule that cannot be carried out and that no action may let pass, such as one of encryption."""


class ValueRejected(RuleError):
    """A rule rejects a part of a message.

    Attributes:
        detail: The reason, without the value; empty for a condition that is false.
        path: The path to the part; empty for the whole message.
        value: The part.
    """

    def __init__(self, detail: str, path: str = "", value: Any = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.path = path
        self.value = value


@dataclass(unsafe_hash=True)
class RuleFailed(SerializationError):
    """A rule stopped a message.

    Attributes:
        rule: The rule's name.
        type: The rule's type.
        mode: The operation: WRITE, READ, UPGRADE or DOWNGRADE.
        subject: The subject of the schema that has the rule; None if it is not known.
        schema_id: The schema's id; None if it is not known.
        version: The schema's version in the subject; None if it is not known.
        path: The path to the rejected value; empty for the whole message.
        value_type: The Python type of that value; empty if the rule rejects all messages.
        detail: The rule's doc, else its expression, and the reason.
        shown: The value, if `magicbyte.rules.show.values` is set; else empty.
        cause: The exception behind this one: a RuleConditionError, a RuleError, or an exception of a custom executor.
    """

    rule: str
    type: str
    mode: str
    subject: str | None
    schema_id: int | None
    version: int | None
    path: str
    value_type: str
    detail: str
    shown: str = ""
    cause: BaseException | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        at = f" at {self.path}" if self.path else ""
        shown = f" (the value is {self.shown})" if self.shown else ""
        return f"rule '{self.rule}' ({self.type}, {self.mode}) of {self._schema} failed{at}: {self.detail}{shown}"

    @property
    def _schema(self) -> str:
        if self.subject is None:
            return "the schema" if self.schema_id is None else f"schema id {self.schema_id}"
        if self.version is not None:
            return f"subject {self.subject} version {self.version}"
        return f"subject {self.subject}" + ("" if self.schema_id is None else f" schema id {self.schema_id}")


def detail_of(rule: Rule, error: Exception) -> str:
    """The reason why a rule failed: its doc, else its expression, and the exception's text unless it is a condition's.

    The text of an exception that no rule raises on purpose may have a value of the message, so it is left out.
    """
    said = rule.doc or rule.expr or ""
    if isinstance(error, RuleUnusable):
        return str(error)
    if isinstance(error, RuleConditionError):
        return said or f"Rule failed: {rule.name}"
    if isinstance(error, RuleError | SerializationError):
        reason = str(error)
    else:
        reason = f"the executor raised {type(error).__name__}"
    if not reason:
        return said or f"Rule failed: {rule.name}"
    return f"{said}: {reason}" if said else reason
