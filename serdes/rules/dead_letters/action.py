"""The action DLQ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from serdes.rules.actions import Act
from serdes.rules.context import WRITE, Message, RuleContext
from serdes.rules.dead_letters.record import letter_headers
from serdes.rules.dead_letters.settings import dead_letter_settings
from serdes.rules.error import RuleError, RuleFailed, RuleUnusable
from serdes.rules.failures import failed


class DeadLetterAction:
    """DLQ: the record goes to a topic of dead letters, and the message stops.

    The action waits until the record is stored. If it is not, the error of the message says so.
    """

    type = "DLQ"
    holds_up = True
    needs_key = True

    def compile(self, context: RuleContext) -> Act:
        """The function that sends the record and raises; see RuleAction."""
        # The import loads librdkafka, which other actions do not need.
        from serdes.rules.dead_letters.producer import LetterNotSent, sender  # noqa: PLC0415

        settings = dead_letter_settings(context)
        send = sender(settings)
        key_of, value_of = _parts(context, settings.redacted_types)

        def act(message: Message, datum: Any, failure: RuleFailed | None) -> None:
            stopped = failure or failed(context, RuleError("the rule's action after a success is DLQ"), datum)
            try:
                send(settings.topic, key_of(message), value_of(message), letter_headers(context, message, failure))
            except LetterNotSent as error:
                problem = f"{stopped.detail}; its dead letter could not be sent to topic {settings.topic}: {error}"
                unsent = replace(stopped, detail=problem)
                raise unsent from (failure.__cause__ if failure else error)
            raise stopped

        return act


_Part = Callable[[Message], bytes | None]


def _parts(context: RuleContext, types: frozenset[str]) -> tuple[_Part, _Part]:
    """The functions of a dead letter's key and value: on reading, the bytes as they came."""
    from serdes.rules.dead_letters.redaction import letter_value, plain_value  # noqa: PLC0415  # as above

    try:
        convert = letter_value(context, types) if context.mode == WRITE else plain_value
    except Exception as error:
        raise RuleUnusable(f"dead letters cannot be redacted: {type(error).__name__}: {error}") from error

    def key_of(message: Message) -> bytes | None:
        return convert(message.original) if message.is_key else plain_value(message.key)

    def value_of(message: Message) -> bytes | None:
        return None if message.is_key else convert(message.original)

    return key_of, value_of
