"""`status` of several files or folders: a table of their pipelines."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from magicbyte.cli.pipeline.outcome import PROGRAM
from magicbyte.cli.pipeline.session import pipeline_session
from magicbyte.cli.tables import aligned
from magicbyte.kit.extras import require
from serdes.console.outcome import BAD_DATA, BAD_USAGE, NOT_DELIVERED, OK, Ended, tell

if TYPE_CHECKING:
    from spark_avro.pipeline.file.pipeline import Pipeline
    from spark_avro.pipeline.folder import ReadableFolder
    from spark_avro.pipeline.upkeep.overview import PipelineRow

_HEADS = ("pipeline", "state", "batch", "age", "lag", "watermark", "state rows", "problem")
_RIGHT = (2, 3, 4, 6)
#: Units of an age, with their seconds.
_UNITS = (("d", 86400), ("h", 3600), ("m", 60))


def is_overview(options: argparse.Namespace) -> bool:
    """Whether a command names several pipelines."""
    return bool(options.files) or Path(options.file).is_dir()


def overview(options: argparse.Namespace) -> int:
    """Show the pipelines; returns the exit code of the worst.

    Raises:
        Ended: there is no pipeline file.
    """
    require("spark", user="`magicbyte pipeline`", modules=("yaml", "pyspark"))
    with ExitStack() as sessions:
        rows = list(_rows(options, _folders(options.master, sessions)))
    if not rows:
        raise Ended(BAD_USAGE, f"{options.name or 'a pipeline file'} is in none of the files and folders")
    if options.output == "json":
        print(json.dumps([row.as_json() for row in rows]))
    else:
        for line in aligned([_HEADS, *map(_cells, rows)], _RIGHT):
            print(line.removeprefix("  "))
    return max(map(code_of_row, rows))


def code_of_row(row: PipelineRow) -> int:
    """The exit code for a row."""
    from spark_avro.pipeline.upkeep.overview import State  # noqa: PLC0415 - with Spark

    if row.state == State.BROKEN:
        return BAD_USAGE
    if row.state in (State.FAILED, State.UNREADABLE):
        return BAD_DATA
    return NOT_DELIVERED if row.problem else OK


def _rows(options: argparse.Namespace, folder_of: Callable[[Pipeline], ReadableFolder]) -> Iterator[PipelineRow]:
    from spark_avro.pipeline.file.place import PipelineError  # noqa: PLC0415 - with Spark
    from spark_avro.pipeline.file.reading import read_pipelines  # noqa: PLC0415
    from spark_avro.pipeline.upkeep.overview import Overview, PipelineRow, State  # noqa: PLC0415

    table = Overview(folder_of)
    for file in _files([options.file, *options.files]):
        try:
            pipelines = read_pipelines(file, overrides=options.overrides)
        except PipelineError as error:
            first, *others = map(str, error.findings)
            more = f" (and {len(others)} more)" if others else ""
            yield PipelineRow(str(file), "", State.BROKEN, problem=f"{first}{more}")
            continue
        for pipeline in pipelines:
            if options.name in (None, pipeline.name):
                yield table.row(str(file), pipeline)


def _files(named: Sequence[str]) -> Iterator[Path]:
    """The files that are named, and the pipeline files of folders; other YAML files are told on stderr."""
    from spark_avro.pipeline.upkeep.pipeline_files import is_pipeline_file, yaml_files  # noqa: PLC0415 - with Spark

    seen: set[Path] = set()
    for path in map(Path, named):
        is_folder = path.is_dir()
        for file in yaml_files(path) if is_folder else (path,):
            if file.absolute() in seen:
                continue
            seen.add(file.absolute())
            if is_folder and not is_pipeline_file(file):
                tell(PROGRAM, f"{file}: no pipeline, left out")
                continue
            yield file


def _folders(master: str, sessions: ExitStack) -> Callable[[Pipeline], ReadableFolder]:
    """Finds checkpoints: those of this machine without Spark, others with one session for all."""

    def folder_of(pipeline: Pipeline) -> ReadableFolder:
        from spark_avro.pipeline.local_folder import local_checkpoint  # noqa: PLC0415 - with Spark

        local = local_checkpoint(pipeline)
        if local is not None:
            return local
        from pyspark.sql import SparkSession  # noqa: PLC0415 - starts slowly

        from spark_avro.pipeline.folder import Folder  # noqa: PLC0415

        spark = SparkSession.getActiveSession() or sessions.enter_context(pipeline_session(pipeline, master))
        # The session has the properties of the first pipeline; file systems read theirs from here.
        configuration = spark._jsc.hadoopConfiguration()  # noqa: SLF001 - PySpark's way to it
        for name, value in pipeline.spark.items():
            if name.startswith("spark.hadoop."):
                configuration.set(name.removeprefix("spark.hadoop."), value)
        return Folder(spark, pipeline.checkpoint)

    return folder_of


def _cells(row: PipelineRow) -> tuple[str, ...]:
    return (
        row.name or row.file,
        str(row.state),
        _text(row.batch),
        "" if row.age is None else shown_age(row.age),
        _text(row.lag),
        _text(row.watermark),
        _text(row.state_rows),
        row.problem,
    )


def _text(value: object) -> str:
    return "" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def shown_age(seconds: float) -> str:
    """An age in the largest unit of which it has two."""
    for name, unit in _UNITS:
        if seconds >= 2 * unit:
            return f"{int(seconds // unit)}{name}"
    return f"{int(seconds)}s"
