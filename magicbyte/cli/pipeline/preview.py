"""`dry-run` and `explain`: what a pipeline would do."""

from __future__ import annotations

import argparse
import json
import sys
from contextlib import closing
from typing import TYPE_CHECKING, Any

from magicbyte.cli.pipeline.outcome import FINDINGS
from magicbyte.cli.pipeline.session import pipeline_session, read_file

if TYPE_CHECKING:
    from spark_avro.pipeline.batch.prepared import Prepared
    from spark_avro.pipeline.file.pipeline import Pipeline


def dry_run(options: argparse.Namespace) -> int:
    """Run the pipeline on the newest records, and write nothing; returns 100 if rows failed."""
    pipeline = read_file(options)
    with pipeline_session(pipeline, options.master) as spark:
        from spark_avro.pipeline.batch.prepared import open_pipeline, prepare  # noqa: PLC0415 - with Spark
        from spark_avro.pipeline.run.rehearsal import rehearse  # noqa: PLC0415

        with closing(open_pipeline(pipeline, spark)) as opened:
            prepared = prepare(opened)
            rehearsal = rehearse(prepared, options.rows)
    for row in rehearsal.rows:
        print(json.dumps(row, default=_text, ensure_ascii=False))
    print(
        f"\n{rehearsal.read} records read, {len(rehearsal.rows)} rows for the sink, {len(rehearsal.dead)} dead letters"
    )
    for letter in rehearsal.dead:
        print(f"  dead: {letter.place}, {letter.stage}: {letter.reason}")
    for name, count in rehearsal.failed.items():
        print(f"  check {name!r}: {count} rows failed")
    _print_schema(prepared)
    sys.stdout.flush()
    return FINDINGS if rehearsal.dead or rehearsal.failed else 0


def explain(options: argparse.Namespace) -> int:
    """Tell what the pipeline reads and writes, and what its sinks guarantee, and why."""
    pipeline = read_file(options)
    print(f"pipeline {pipeline.name}, checkpoint {pipeline.checkpoint}")
    _print_needs(pipeline)
    with pipeline_session(pipeline, options.master) as spark:
        from spark_avro.pipeline.batch.prepared import open_pipeline, prepare  # noqa: PLC0415 - with Spark
        from spark_avro.pipeline.run.rehearsal import plan_text  # noqa: PLC0415
        from spark_avro.pipeline.state.explained import state_words  # noqa: PLC0415

        with closing(open_pipeline(pipeline, spark)) as opened:
            prepared = prepare(opened)
            for column, plans in opened.source.plans.items():
                plan = plans.plan
                print(f"source: {column} by schema ids {', '.join(map(str, plan.ids)) or 'none: the format has none'}")
                for schema_id, reason in plan.unreadable.items():
                    print(f"  id {schema_id} cannot be read: {reason}")
            for caution in (*opened.source.cautions(), *opened.cautions):
                print(f"caution: {caution}")
            print("columns of the records:")
            _print_columns(prepared.decoded)
            _print_schema(prepared)
            for line in state_words(opened):
                print(line)
            for sink in opened.sinks:
                guarantee = sink.guarantee
                print(f"{type(sink).__name__}: {guarantee.delivery.value}: {guarantee.reason}")
                print(f"  lost or foreign checkpoint: {guarantee.lost_checkpoint}")
                print(f"  shown by {guarantee.test}")
            print(plan_text(prepared))
    return 0


def _print_needs(pipeline: Pipeline) -> None:
    """Show what has to be installed; before Spark starts, which fails without it."""
    import pyspark  # noqa: PLC0415 - after the check for it

    from spark_avro.pipeline.needs import needs  # noqa: PLC0415

    for line in needs(pipeline, pyspark.__version__):
        print(f"needs: {line}")
    sys.stdout.flush()


def _print_schema(prepared: Prepared) -> None:
    print("columns for the sink:")
    _print_columns(prepared.written)
    for statements in prepared.statements:
        for statement in statements:
            print(f"the first batch would run: {statement}")


def _print_columns(schema: Any) -> None:
    for field in schema.fields:
        if not field.name.startswith("_"):
            print(f"  {field.name}: {field.dataType.simpleString()}{'' if field.nullable else ' not null'}")


def _text(value: Any) -> str:
    return value.hex() if isinstance(value, bytes | bytearray) else str(value)
