"""`lint` and `schema`: the commands that need neither Spark nor a network."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from magicbyte.kit.extras import require

if TYPE_CHECKING:
    from magicbyte.kit.settings.place import Finding


def lint(options: argparse.Namespace) -> int:
    """Check files; all findings are written, one for each line."""
    require("spark", user="`magicbyte pipeline`", modules=("yaml", "sqlglot"))
    from spark_avro.pipeline.file.place import PipelineError  # noqa: PLC0415 - after the check for YAML

    findings: list[Finding] = []
    cautions: list[Finding] = []
    names: list[str] = []
    for file in (options.file, *options.files):
        try:
            names += _lint_file(file, options.overrides, findings, cautions)
        except PipelineError as error:
            findings += error.findings
    for finding in findings:
        sys.stderr.write(f"{finding}\n")
    for caution in cautions:
        sys.stdout.write(f"caution: {caution}\n")
    if not findings:
        sys.stdout.write(f"{', '.join(names) or options.file}: no findings\n")
    return 2 if findings else 0


def _lint_file(file: str, overrides: Sequence[str], findings: list[Finding], cautions: list[Finding]) -> list[str]:
    """Add the findings of a file; returns the names of its pipelines.

    Raises:
        PipelineError: settings are wrong.
    """
    from spark_avro.pipeline.file.nodes import Placeholders  # noqa: PLC0415 - after the check for YAML
    from spark_avro.pipeline.file.object_stores import store_findings  # noqa: PLC0415
    from spark_avro.pipeline.file.place import PipelineError  # noqa: PLC0415
    from spark_avro.pipeline.file.reading import read_pipelines  # noqa: PLC0415
    from spark_avro.pipeline.file.sql_findings import sql_findings  # noqa: PLC0415
    from spark_avro.pipeline.needs import installed_spark, missing_needs  # noqa: PLC0415

    pipelines = read_pipelines(file, overrides=overrides, placeholders=Placeholders.CHECK)
    try:
        # A pipeline with a variable that is not set here is left out, but not if its placeholders stay.
        kept = read_pipelines(file, overrides=overrides, placeholders=Placeholders.KEEP)
    except PipelineError:
        # The name of an included file has a placeholder.
        kept = pipelines
    found = [item for pipeline in pipelines for item in store_findings(pipeline, pipeline.spark.get)]
    found += [item for pipeline in kept for item in sql_findings(pipeline)]
    found += [item for pipeline in pipelines for item in missing_needs(pipeline, installed_spark())]
    for item in found:
        (findings if item.refused else cautions).append(item.finding)
    return [pipeline.name for pipeline in pipelines]


def schema(_options: argparse.Namespace) -> int:
    """Write the JSON Schema of pipeline files."""
    require("spark", user="`magicbyte pipeline`", modules=("yaml",))
    from magicbyte.kit.settings.generated import document_schema  # noqa: PLC0415 - after the check for YAML
    from spark_avro.pipeline.file.pipeline import Pipeline  # noqa: PLC0415

    sys.stdout.write(json.dumps(document_schema(Pipeline, "Magicbyte pipeline"), indent=2) + "\n")
    return 0
