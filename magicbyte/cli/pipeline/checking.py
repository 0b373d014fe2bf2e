"""`lint` and `schema`: the commands that need neither Spark nor a network."""

from __future__ import annotations

import argparse
import json
import sys

from magicbyte.kit.extras import require


def lint(options: argparse.Namespace) -> int:
    """Check files; all findings are written, one for each line."""
    require("spark", user="`magicbyte pipeline`", modules=("yaml",))
    from magicbyte.kit.settings.place import Finding  # noqa: PLC0415
    from spark_avro.pipeline.file.nodes import Placeholders  # noqa: PLC0415 - after the check for YAML
    from spark_avro.pipeline.file.object_stores import store_findings  # noqa: PLC0415
    from spark_avro.pipeline.file.place import PipelineError  # noqa: PLC0415
    from spark_avro.pipeline.file.reading import read_pipelines  # noqa: PLC0415
    from spark_avro.pipeline.needs import installed_spark, missing_needs  # noqa: PLC0415

    findings: list[Finding] = []
    cautions: list[Finding] = []
    names: list[str] = []
    for file in (options.file, *options.files):
        try:
            pipelines = read_pipelines(file, overrides=options.overrides, placeholders=Placeholders.CHECK)
        except PipelineError as error:
            findings += error.findings
            continue
        names += [pipeline.name for pipeline in pipelines]
        for pipeline in pipelines:
            for found in store_findings(pipeline, pipeline.spark.get):
                (findings if found.refused else cautions).append(found.finding)
            for finding, refused in missing_needs(pipeline, installed_spark()):
                (findings if refused else cautions).append(finding)
    for finding in findings:
        sys.stderr.write(f"{finding}\n")
    for caution in cautions:
        sys.stdout.write(f"caution: {caution}\n")
    if not findings:
        sys.stdout.write(f"{', '.join(names) or options.file}: no findings\n")
    return 2 if findings else 0


def schema(_options: argparse.Namespace) -> int:
    """Write the JSON Schema of pipeline files."""
    require("spark", user="`magicbyte pipeline`", modules=("yaml",))
    from magicbyte.kit.settings.generated import document_schema  # noqa: PLC0415 - after the check for YAML
    from spark_avro.pipeline.file.pipeline import Pipeline  # noqa: PLC0415

    sys.stdout.write(json.dumps(document_schema(Pipeline, "Magicbyte pipeline"), indent=2) + "\n")
    return 0
