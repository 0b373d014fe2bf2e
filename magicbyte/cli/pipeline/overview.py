"""`status` of several files or folders: a table of their pipelines."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from magicbyte.cli.pipeline.checkpoint_folders import checkpoint_folders
from magicbyte.cli.pipeline.outcome import PROGRAM
from magicbyte.cli.tables import aligned
from magicbyte.kit.bounded_file import real_path
from magicbyte.kit.extras import require
from serdes.console.outcome import BAD_DATA, BAD_USAGE, NOT_DELIVERED, OK, Ended, tell

if TYPE_CHECKING:
    from spark_avro.pipeline.file.pipeline import Pipeline
    from spark_avro.pipeline.file.place import PipelineError
    from spark_avro.pipeline.folder import ReadableFolder
    from spark_avro.pipeline.upkeep.overview import PipelineRow

_HEADS = ("pipeline", "state", "batch", "age", "lag", "watermark", "state rows", "problem")
_RIGHT = (2, 3, 4, 6)
#: Exit codes from the worst to the best.
_SEVERITY = (BAD_USAGE, BAD_DATA, NOT_DELIVERED, OK)
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
        rows = list(_rows(options, checkpoint_folders(options.master, sessions)))
    if not rows:
        raise Ended(BAD_USAGE, f"{options.name or 'a pipeline file'} is in none of the files and folders")
    if options.output == "json":
        print(json.dumps([row.as_json() for row in rows]))
    else:
        for line in aligned([_HEADS, *map(_cells, rows)], _RIGHT):
            print(line.removeprefix("  "))
    return worst_code(rows)


def worst_code(rows: Iterable[PipelineRow]) -> int:
    """The exit code for rows."""
    return min(map(code_of_row, rows), key=_SEVERITY.index)


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
    from spark_avro.pipeline.upkeep.overview import Overview, PipelineRow, State  # noqa: PLC0415

    table = Overview(folder_of)
    for file, problem in _files([options.file, *options.files]):
        if problem:
            yield PipelineRow(str(file), "", State.BROKEN, problem=problem)
            continue
        try:
            pipelines, missing = _read(file, options.overrides)
        except PipelineError as error:
            yield PipelineRow(str(file), "", State.BROKEN, problem=_first_finding(error))
            continue
        for pipeline in pipelines:
            if options.name in (None, pipeline.name):
                # Other settings without values, such as a password of the sink's, do not matter for a row.
                hides_broker = any("${" in text for text in pipeline.kafka.values())
                yield table.row(str(file), pipeline, missing if hides_broker else "")


def _read(file: Path, overrides: Sequence[str]) -> tuple[Sequence[Pipeline], str]:
    """The pipelines of a file, and the first placeholder that has no value here.

    The table is often printed without the variables of the services. Then a checkpoint can still be read.

    Raises:
        PipelineError: the file is wrong, or the path of a checkpoint is not known.
    """
    from spark_avro.pipeline.file.nodes import Placeholders  # noqa: PLC0415 - with Spark
    from spark_avro.pipeline.file.place import PipelineError  # noqa: PLC0415
    from spark_avro.pipeline.file.reading import read_pipelines  # noqa: PLC0415

    try:
        return read_pipelines(file, overrides=overrides), ""
    except PipelineError as error:
        try:
            pipelines = read_pipelines(file, overrides=overrides, placeholders=Placeholders.LEAVE)
        except PipelineError:
            raise error from None
        if any("${" in text for pipeline in pipelines for text in (pipeline.name, pipeline.checkpoint)):
            raise
        return pipelines, _first_finding(error)


def _first_finding(error: PipelineError) -> str:
    first, *others = map(str, error.findings)
    return f"{first} (and {len(others)} more)" if others else first


def _files(named: Sequence[str]) -> Iterator[tuple[Path, str]]:
    """The files that are named, and the pipeline files of folders, each with the reason why it cannot be read.

    stderr gets the names of other YAML files.
    """
    seen: set[Path] = set()
    for path in map(Path, named):
        for file, problem in _of_folder(path) if path.is_dir() else ((path, ""),):
            if file.absolute() not in seen:
                seen.add(file.absolute())
                yield file, problem


def _of_folder(folder: Path) -> Iterator[tuple[Path, str]]:
    from spark_avro.pipeline.upkeep.pipeline_files import YamlFile, yaml_files  # noqa: PLC0415 - with Spark

    unlisted: list[OSError] = []
    files: list[YamlFile] = []
    problems: dict[Path, str] = {}
    for path in yaml_files(folder, unlisted.append):
        try:
            files.append(YamlFile.read(path, folder))
        except OSError as error:
            files.append(YamlFile(path, is_pipeline=True, has_name=True))
            problems[path] = f"cannot be read: {error.strerror}"
    included = {included for file in files for included in file.includes}
    for file in files:
        # A shared file may look like a pipeline, but has no name of its own.
        if file.is_pipeline and (file.has_name or real_path(file.path) not in included):
            yield file.path, problems.get(file.path, "")
        else:
            tell(PROGRAM, f"{file.path}: no pipeline, left out")
    for refused in unlisted:
        yield Path(refused.filename), f"cannot be listed: {refused.strerror}"


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
    """An age in its largest unit that it has at least twice: 119 minutes, but 2 hours."""
    for name, unit in _UNITS:
        if seconds >= 2 * unit:
            return f"{int(seconds // unit)}{name}"
    return f"{int(seconds)}s"
