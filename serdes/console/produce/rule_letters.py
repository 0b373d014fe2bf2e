"""The rules of schemas in the console tools: their dead letters go through the tools' own producer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from serdes.rules.settings import RuleSettings
from serdes.text.text_serdes import AdaptRules


class LetterNotSent(Exception):
    """A dead letter was not delivered; the text says why."""


class RuleLetters:
    """Sends dead letters, with a producer that is made for the first one."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        """Prepare, with the configuration of the producer."""
        self._config = config
        self._producer: Any = None

    def __call__(
        self, topic: str, key: bytes | None, value: bytes | None, headers: Sequence[tuple[str, bytes | None]]
    ) -> None:
        """Send a letter and wait until it is stored.

        Raises:
            LetterNotSent: It is not.
        """
        from serdes.console.produce.outbox import Outbox, Record  # noqa: PLC0415  # dead letters are rare

        if self._producer is None:
            self._producer = Outbox(self._config)
        failed = self._producer.failed
        self._producer.send(topic, Record(key, value, list(headers)), is_letter=True)
        self._producer.flush()
        if self._producer.failed > failed:
            raise LetterNotSent(self._producer.reason)


def no_letters(topic: str, key: bytes | None, value: bytes | None, headers: object) -> None:
    """Sends nothing, for dry runs."""


def console_rules(letters: Any, redacted: Sequence[str] = ()) -> AdaptRules:
    """The change of the settings of rules in a tool.

    Args:
        letters: Sends dead letters, such as RuleLetters.
        redacted: Tags whose strings and bytes are redacted when records are read.
    """

    def adapt(settings: RuleSettings) -> RuleSettings:
        return replace(settings.with_letters_by(letters), redacted=tuple(redacted))

    return adapt
