"""The rules on values that are written, and what becomes of the values that they reject."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from serdes.client.clients import RegistryClient
from serdes.client.models import RegisteredSchema
from serdes.rules.context import WRITE, Ruled
from spark_avro.plan.rules.carried import Carried, by_workers
from spark_avro.plan.rules.listed import REFUSE, ListedRule, listed_rules
from spark_avro.plan.rules.refusing import refuse_writing
from spark_avro.plan.rules.workers.message_rules import MessageRules
from spark_avro.sent_schema import SentSchema


def written_schema(client: RegistryClient, held: RegisteredSchema) -> SentSchema:
    """The version under which records are written, with its rules."""
    dependencies = client.dependencies(held.schema, held.subject)
    ruled = Ruled.of(f"the schema of subject {held.subject}", held, dependencies)
    return SentSchema(ruled, dependencies)


def write_rules(sent: SentSchema, rules: str) -> Sequence[ListedRule]:
    """The rules that run before values are encoded.

    Args:
        sent: The schema.
        rules: apply or refuse.

    Raises:
        PlanError: A rule cannot be carried out.
        RulesNotSupported: Rules are refused, and the schema has some.
    """
    if rules == REFUSE:
        refuse_writing(sent.ruled)
        return ()
    return listed_rules(sent.ruled, WRITE)


def carried_on_bytes(
    payload: Column, sent: SentSchema, listed: Sequence[ListedRule], message: str | None = None
) -> Carried:
    """Encoded values after rules that workers carry out.

    Args:
        payload: The payloads, without message indexes.
        sent: The schema.
        listed: The rules.
        message: The full name of Protobuf's message.
    """
    task = MessageRules(sent, tuple(listed), message, has_indexes=False)
    value, failure = by_workers(task, payload, payload)
    return Carried(value, F.lit(True), failure)
