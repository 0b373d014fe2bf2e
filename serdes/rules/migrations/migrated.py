"""Carries a migration out: the datum of the writer's version goes through the rules and is taken as the reader's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from serdes.codec.errors import EncodeError
from serdes.error import SerializationError
from serdes.rules.context import Message
from serdes.rules.error import RuleError
from serdes.rules.failures import failed
from serdes.rules.migrations.steps import Migration

#: The parameter of a JSONATA rule, or the setting, that says in which form migrations see unions and bytes of Avro.
AVRO_JSON = "magicbyte.migration.avro.json"
PLAIN, TAGGED = "plain", "tagged"


class Written(NamedTuple):
    """A datum on its way from the writer's schema to the reader's.

    Attributes:
        datum: The datum that the rules see.
        take: Takes the datum after the rules; returns the reader's. It raises EncodeError or RuleError if it does not
            fit the reader's schema.
    """

    datum: Any
    take: Callable[[Any], Any]


#: Takes a message and its payload's offset.
Read = Callable[[bytes, int], Written]


class Migrate:
    """Takes a datum of the writer's schema through the rules of a migration to a datum of the reader's."""

    def __init__(self, migration: Migration) -> None:
        self.plans = migration.plans
        self._target = migration.target.name

    def __call__(self, written: Written, message: Message) -> Any:
        """The reader's datum.

        Raises:
            RuleFailed: A rule stops the message, or what the rules return does not fit the reader's schema.
        """
        datum = written.datum
        for plan in self.plans:
            datum = plan.run(datum, message)
        try:
            return written.take(datum)
        except (EncodeError, RuleError, TypeError) as error:
            problem = RuleError(f"the result does not fit {self._target}: {error}")
            raise failed(self.plans[-1].steps[-1].context, problem, datum) from error


def avro_json(migration: Migration) -> str:
    """The form of Avro data that the JSONATA rules of a migration see: `plain` or `tagged`.

    Raises:
        SerializationError: A rule names another form, or two rules name different ones.
    """
    forms = {}
    for plan in migration.plans:
        for step in plan.steps:
            context = step.context
            if context.type == "JSONATA":
                named = context.configuration.get(AVRO_JSON) or context.parameter(AVRO_JSON) or PLAIN
                forms[str(named).strip().lower()] = f"rule '{context.rule.name}' of {context.ruled.name}"
    for form, rule in forms.items():
        if form not in (PLAIN, TAGGED):
            raise SerializationError(f"{rule} has {AVRO_JSON}={form!r:.40}; use {PLAIN} or {TAGGED}")
    if len(forms) > 1:
        raise SerializationError(
            f"{forms[PLAIN]} sees {PLAIN} unions and {forms[TAGGED]} {TAGGED} ones; "
            f"set {AVRO_JSON} to the same form for all rules of a migration"
        )
    return next(iter(forms), PLAIN)
