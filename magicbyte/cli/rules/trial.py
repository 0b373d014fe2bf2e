"""Carrying rules out on a message that is nowhere written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from magicbyte.cli.rules.cases import Case
from magicbyte.kit.failure import Failure
from serdes.client.clients import RegistryClient
from serdes.client.models import RegisteredSchema
from serdes.console.produce.rule_letters import no_letters
from serdes.message.reading import Resolved, RuledDecoder
from serdes.message.ruled_reading import RuledReading
from serdes.message.writing import RuledEncoder, ruled_encoder
from serdes.rules.context import Message
from serdes.rules.counts import RuleCounts
from serdes.rules.error import RuleFailed
from serdes.rules.inline.rule import ValidationRulesFailed
from serdes.rules.plan import Step
from serdes.text import TextOptions, deserializing, serializing, text_form

#: JSON as `magicbyte produce` reads it.
OPTIONS = TextOptions(plain_unions=True, defaults=True)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of the rules for a message: rule, path and text of its failure, or the message after the rules."""

    rule: str | None = None
    path: str = ""
    text: str = ""
    result: Any = None


class Trial:
    """Carries the rules of a case out."""

    def __init__(self, case: Case, conf: Mapping[str, str], client: RegistryClient) -> None:
        """Prepare.

        Args:
            case: The case.
            conf: The settings of rules.
            client: The registry's client, for the versions between those of a migration.

        Raises:
            SerializationError, SchemaCompileError: The schema or its rules cannot be used.
        """
        self._case = case
        ruled = case.ruled
        source = case.source or ruled
        form = text_form(ruled.schema.schema_type)
        placed = {**conf, "execution.environment": case.environment}
        writing, reading = form.writing.load(placed), form.reading.load(placed)
        writer_format = serializing(ruled.schema, ruled.schema.schema_type, writing, OPTIONS)
        reader_format = deserializing(ruled.schema.schema_type, reading, OPTIONS)
        written = (source.schema, source.dependencies)
        self._encode = writer_format.encoder(*written)
        self._show = reader_format.decoder(written, None)
        self._write: RuledEncoder | None = None
        self._read: RuledDecoder | None = None
        #: The rules that run on the datum, in their order.
        self.rules: tuple[Step, ...] = ()
        counts = RuleCounts()
        if case.mode == "WRITE":
            settings = writing.rules().with_letters_by(no_letters)
            self._write = ruled_encoder(writer_format, self._encode, ruled, settings, counts, is_awaited=False)
            self.rules = () if self._write is None else self._write.domain.steps
            return
        settings = reading.rules().with_letters_by(no_letters)
        around = RuledReading(reader_format, reading, settings, None, counts, is_awaited=False)
        version: RegisteredSchema | None = None
        target: Resolved | None = None
        if case.mode != "READ":
            version = client.version(ruled.subject or "", ruled.version or 0)
            target = (ruled.schema, ruled.dependencies)
        read = client.drive(around.decoder(client.endpoints, source, written, version, target))
        if isinstance(read, RuledDecoder):
            migration = () if read.migrate is None else read.migrate.plans
            self._read = read
            self.rules = tuple(step for plan in (*migration, read.domain) for step in plan.steps)

    def run(self) -> Outcome:
        """Carry the rules out.

        Raises:
            Failure: The message does not fit its schema.
        """
        message = self.message()
        try:
            result = self._carried_out(message)
        except RuleFailed as failure:
            return Outcome(failure.rule, failure.path, str(failure))
        except ValidationRulesFailed as failure:
            first = failure.violations[0]
            return Outcome(first.rule.name or "unnamed", first.path, str(failure))
        except (ValueError, TypeError, RecursionError) as error:
            raise Failure(f"the message does not fit the schema: {error}") from error
        return Outcome(result=json.loads(result))

    def _carried_out(self, message: Message) -> bytes:
        if self._write is not None:
            payload = self._write(self._case.message, message)
            return self._shown(payload)
        payload = self._payload()
        if self._read is None:
            return self._shown(payload)
        indexes = self._encode.indexes
        text: bytes = self._read(indexes + payload, 0, message)
        return text

    def datum(self) -> Any:
        """The message as the first rule on it sees it."""
        if self._write is not None:
            encoder = self._write.encoder
            assert encoder.datum_of is not None
            return encoder.datum_of(encoder.encode(self._case.message))
        assert self._read is not None
        return self._read.decode(self._encode.indexes + self._payload(), 0)

    def message(self) -> Message:
        """The message that the rules are carried out on."""
        subject = self._case.ruled.subject or self._case.ruled.name
        return Message(subject, None, False, None, self._case.message)

    def _payload(self) -> bytes:
        payload: bytes = self._encode.encode(self._case.message)
        return payload

    def _shown(self, payload: bytes) -> bytes:
        text: bytes = self._show(self._encode.indexes + payload, 0)
        return text
