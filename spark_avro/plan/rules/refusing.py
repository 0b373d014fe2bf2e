"""The versions whose records must not be read, because of rules that nobody carries out on them here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from serdes.error import RulesNotSupported
from serdes.rules.context import ENCODING_RULES, READ, Ruled
from serdes.rules.plan import rules_plan
from serdes.rules.seam import after_decoding, before_encoding, refusal
from serdes.rules.settings import RuleSettings
from spark_avro.plan.rules.listed import APPLY, EXECUTORS, IGNORE

if TYPE_CHECKING:
    from spark_avro.registry import Version


def refusal_of(ruled: Ruled, reader: Ruled | None, rules: str) -> str | None:
    """The reason why records of a schema must not be read; None if they may.

    Args:
        ruled: The writer's schema.
        reader: The reader's schema; None if its rules do not apply.
        rules: apply, refuse or ignore.
    """
    if rules == APPLY:
        return _unexecutable(ruled)
    return None if rules == IGNORE else refusal(ruled, reader)


@dataclass(frozen=True, slots=True)
class Seam:
    """Decides whether records of a schema may be read.

    Attributes:
        reader: The registry's schema to which values are resolved; None if it is not from the registry.
        rules: apply, refuse or ignore.
    """

    reader: Ruled | None = None
    rules: str = APPLY

    def refusal(self, writer: Ruled) -> str | None:
        """The reason why records of a writer's schema must not be read; None if they may."""
        return refusal_of(writer, self.reader, self.rules)


#: Refuses schemas with rules that nobody carries out here.
ANY = Seam()


def with_refusals(versions: Sequence[Version], reader: Ruled | None, rules: str) -> list[Version]:
    """The versions, with `refusal` set for those whose records must not be read."""
    return [replace(version, refusal=refusal_of(version.ruled, reader, rules)) for version in versions]


def refuse_all(versions: Sequence[Version], reader: Ruled | None, rules: str) -> None:
    """Stop if no version is left whose records may be read.

    Raises:
        RulesNotSupported: the first version, or the reader's schema, has rules that nobody carries out here.
    """
    if versions and all(version.refusal for version in versions):
        if rules != APPLY:
            after_decoding(versions[0].ruled, reader, None)
        raise RulesNotSupported(versions[0].ruled.name, _unexecutable_names(versions[0].ruled))


def refuse_writing(ruled: Ruled) -> None:
    """Stop if a schema has rules on messages that are written.

    Raises:
        RulesNotSupported: it has.
    """
    before_encoding(ruled, None)


def _unexecutable(ruled: Ruled) -> str | None:
    names = _unexecutable_names(ruled)
    return str(RulesNotSupported(ruled.name, names)) if names else None


def _unexecutable_names(ruled: Ruled) -> tuple[str, ...]:
    """The names of the rules on reading that Spark does not carry out: of encryption, on bytes, of unknown types."""
    settings = RuleSettings()
    on_bytes = rules_plan(ruled, READ, settings, phase=ENCODING_RULES).steps
    on_data = (step for step in rules_plan(ruled, READ, settings).steps if step.context.type not in EXECUTORS)
    return tuple(step.context.rule.name or "" for step in (*on_bytes, *on_data))
