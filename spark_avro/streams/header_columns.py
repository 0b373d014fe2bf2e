"""The headers of dead letters as a Spark column, in the forms of `serdes.letters.headers`."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from serdes.letters.headers import FORMS, MASKED, OWN, OWN_NAMES, REPLAY, HeaderForm
from serdes.rules.dead_letters.record import RULE_EXCEPTION, RULE_MODE, RULE_SUBJECT, RULE_TOPIC
from serdes.rules.plan import RULE_NAME

#: The type of a record's headers in Spark.
HEADERS = "array<struct<key:string,value:binary>>"

#: The text of `serdes.rules.error.RuleFailed`: the rule, its mode and its subject.
_RULE_FAILED = r"^rule '([\w-]+)' \(\w*, (\w+)\) of subject (.+?)(?: version \d+| schema id \d+)? failed"

#: The class of the failure by its stage: consumers of letters expect an exception.
_EXCEPTIONS = {
    "KEY_CONVERTER": "spark_avro.errors.BrokenRecord",
    "VALUE_CONVERTER": "spark_avro.errors.BrokenRecord",
    "TRANSFORMATION": "spark_avro.pipeline.StepFailed",
    "TASK_PUT": "spark_avro.pipeline.RowRejected",
}


def with_headers(
    original: Column, failure: Mapping[str, Column], form: str = "connect", *, masked: bool = False
) -> Column:
    """A record's headers, followed by headers that say why it failed.

    Args:
        original: The record's headers, an array of structs of key and value; or NULL.
        failure: Attribute of DeadLetter -> its value; a NULL value makes no header.
        form: One of FORMS.
        masked: Whether the letter has neither key, value nor original headers.
    """
    chosen = FORMS[form]
    pairs = [
        (name, _bytes(chosen, attribute, failure[attribute]))
        for attribute, name in chosen.names.items()
        if attribute in failure
    ]
    pairs += [
        (OWN + name, failure[attribute].cast("string").cast("binary"))
        for attribute, name in OWN_NAMES.items()
        if attribute in failure and attribute not in chosen.names
    ]
    if masked:
        pairs.append((MASKED, F.lit("true").cast("binary")))
    if "message" in failure:
        # Readers tell the form by the last header that names a topic, so the rule's headers stand before the others.
        pairs = [*_of_rule(failure["message"], failure.get("topic")), *pairs]
    added = F.array(*(F.struct(F.lit(name).alias("key"), value.alias("value")) for name, value in pairs))
    added = F.filter(added, lambda header: header["value"].isNotNull())
    return added if masked else F.concat(F.coalesce(original, F.slice(added, 1, 0)), added)


def _of_rule(message: Column, topic: Column | None) -> list[tuple[str, Column]]:
    """The headers that name the rule that rejected a record, by the text of its failure; NULL for other failures."""

    def part(number: int) -> Column:
        found = F.regexp_extract(message, _RULE_FAILED, number)
        return F.when(found != "", found).cast("binary")

    is_rule = message.rlike(_RULE_FAILED)
    of_topic = [] if topic is None else [(RULE_TOPIC, F.when(is_rule, topic).cast("string").cast("binary"))]
    return [
        (RULE_NAME, part(1)),
        (RULE_MODE, part(2)),
        (RULE_SUBJECT, part(3)),
        *of_topic,
        (RULE_EXCEPTION, F.when(is_rule, message).cast("binary")),
    ]


def exception_of(stage: Column) -> Column:
    """The class of the failure of a stage."""
    made = F.lit(None).cast("string")
    for name, exception in _EXCEPTIONS.items():
        made = F.when(stage == name, F.lit(exception)).otherwise(made)
    return made


def attempt_of(headers: Column) -> Column:
    """The number of times that a record was tried: once, and once more for each replay that its headers name."""
    replays = F.filter(headers, lambda header: header["key"] == REPLAY)
    last = F.get(replays, F.size(replays) - 1)["value"]
    # Anybody may have written the header; Spark 3.5 has no `try_cast`.
    number = F.when(last.cast("string").rlike("^[0-9]{1,9}$"), last.cast("string").cast("int"))
    return F.coalesce(number, F.lit(0)) + 1


def _bytes(form: HeaderForm, attribute: str, value: Column) -> Column:
    size = form.sizes.get(attribute)
    if size is None:
        return value.cast("string").cast("binary")
    digits = F.lpad(F.hex(value.cast("bigint")), 16, "0")
    return F.unhex(F.right(digits, F.lit(2 * size)))
