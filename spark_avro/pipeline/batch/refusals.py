"""Refuses a decoded batch if broken records are not tolerated, or if `evolve` does not accept a schema."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - its usual name

from magicbyte.kit.failure import Failure
from spark_avro.errors import BrokenRecord
from spark_avro.pipeline.batch.measures import UNREADABLE_ROWS
from spark_avro.pipeline.file.pipeline import Pipeline
from spark_avro.pipeline.ports import POSITION
from spark_avro.pipeline.sources.source import Source
from spark_avro.plan.reasons import UNREADABLE, unknown_name
from spark_avro.streams.followers import RegistryFollower, SchemaName
from spark_avro.streams.following import DecodedBatch, patiently


class SchemaRefused(Failure):
    """A record has a schema that `evolve` does not accept."""


def refuse(decoded: DecodedBatch, pipeline: Pipeline, source: Source) -> None:
    """Stop a batch with broken records if the file does not tolerate them.

    Raises:
        BrokenRecord: errors.tolerance is none.
        SchemaRefused: evolve.new-version or evolve.unreadable is fail, and the batch has such a record.
        RegistryUnavailable: the registry does not say whether it has an id.
    """
    if not decoded.counts.dead:
        return
    registered = _registered(decoded, pipeline, source)
    is_registered = unknown_name(F.col("error")).isin(*map(str, registered))
    if registered and pipeline.evolve.new_version == "fail" and not source.refreshes:
        _raise(decoded.rows, source, is_registered, "evolve.new-version is fail")
    if registered and source.refreshes and pipeline.evolve.unreadable == "fail":
        _raise(decoded.rows, source, is_registered, "it is of another subject; evolve.unreadable is fail")
    if decoded.measured.get(UNREADABLE_ROWS) and pipeline.evolve.unreadable == "fail":
        _raise(decoded.rows, source, F.col("error.reason").startswith(UNREADABLE), "evolve.unreadable is fail")
    if pipeline.errors.tolerance == "none":
        reason, place = _first(decoded.rows, source, F.col("error").isNotNull())
        raise BrokenRecord(reason, place)


def _registered(decoded: DecodedBatch, pipeline: Pipeline, source: Source) -> list[SchemaName]:
    """The ids and guids outside the plan that the registry has; for one that it lacks, the record is at fault."""
    followers = [plans for plans in source.plans.values() if isinstance(plans, RegistryFollower)]
    if not decoded.unknown or not followers or pipeline.registry is None:
        return []

    def registered() -> list[SchemaName]:
        return [name for name in sorted(decoded.unknown, key=str) if followers[0].has(name)]

    # One wait for all of them: with one for each, a batch could wait for any time.
    found: list[SchemaName] = patiently(registered, pipeline.registry.patience)
    return found


def _raise(rows: DataFrame, source: Source, which: Column, why: str) -> None:
    reason, place = _first(rows, source, which)
    raise SchemaRefused(f"{reason} at {place}: {why}")


def _first(rows: DataFrame, source: Source, which: Column) -> tuple[str, str]:
    """The reason and place of the first row that a condition selects."""
    first = rows.where(which).select("error", POSITION).limit(1).collect()[0]
    return first["error"]["reason"], source.place(first[POSITION], first["error"])
