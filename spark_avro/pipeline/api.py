"""A pipeline in Python: `spark_avro.pipeline("flights.yaml").run(spark)`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from spark_avro.pipeline.file.reading import read_pipeline

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from spark_avro.pipeline.file.pipeline import Pipeline
    from spark_avro.pipeline.run.result import RunResult


class DeclaredPipeline:
    """A pipeline that a file declares.

    Attributes:
        file: The contents of the file.
    """

    def __init__(self, file: Pipeline) -> None:
        self.file = file

    def run(
        self, spark: SparkSession, *, until_caught_up: bool = False, adopt: bool = False, new_state: bool = False
    ) -> RunResult:
        """Run it until its trigger ends it.

        Args:
            spark: The session, with Spark's Avro and Kafka modules; see `spark_avro.session`.
            until_caught_up: Whether the run ends when it has read all records that exist.
            adopt: Whether targets that another query has written to are taken over.
            new_state: Whether steps that remember rows begin with empty state, at the offsets that are committed.

        Raises:
            PipelineError: a step, check or sink does not fit the columns.
            Failure: a batch failed; it is run again at the next start.
        """
        from spark_avro.pipeline.run.running import Running  # noqa: PLC0415 - the file is read without Spark

        return Running(self.file, spark, adopt=adopt, new_state=new_state, until_caught_up=until_caught_up).run()


def pipeline(file: str | Path, *, name: str | None = None, overrides: Sequence[str] = ()) -> DeclaredPipeline:
    """The pipeline of a file.

    Args:
        file: The YAML file.
        name: The pipeline's name, if the file has several.
        overrides: Settings that override the file's, such as `source.start=latest`.

    Raises:
        PipelineError: the file is wrong; has all findings with line and column.
    """
    return DeclaredPipeline(read_pipeline(file, name=name, overrides=overrides))
