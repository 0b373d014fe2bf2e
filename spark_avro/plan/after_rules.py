"""Decoded parts after the rules that run on columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from spark_avro.plan.parts import Decoded
from spark_avro.plan.rules.carrying import Opened, RowRule, carry_out


def after_rules(parts: Decoded, rules: Sequence[RowRule], replayed: Column | None) -> Decoded:
    """Decoded parts after rules on columns; `replayed` is the rule that a record skips."""
    if not rules:
        return parts
    whole = F.struct(parts.value.alias("value"), parts.sound.alias("sound"))
    carried = carry_out(rules, Opened(whole, lambda whole: whole["value"], lambda whole: whole["sound"], replayed))
    return replace(parts, value=carried.value, sound=carried.sound).failed(carried.failure)
