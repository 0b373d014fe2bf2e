"""`submit`: the spark-submit line of a pipeline."""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from magicbyte.cli.pipeline.session import read_file

if TYPE_CHECKING:
    from spark_avro.pipeline.file.pipeline import Pipeline


def submit(options: argparse.Namespace) -> int:
    """Print the line, or run it."""
    pipeline = read_file(options)
    line = submit_line(pipeline, Path(options.file), options)
    if not options.execute:
        print(shlex.join(line))
        return 0
    import pyspark  # noqa: PLC0415 - only to run

    from magicbyte.platform.java import find_spark_java  # noqa: PLC0415 - looks for a JDK

    environment = {**os.environ, "JAVA_HOME": str(find_spark_java(pyspark.__version__).home)}
    environment.setdefault("PYSPARK_PYTHON", sys.executable)
    return subprocess.run(line, check=False, env=environment).returncode  # noqa: S603 - our own line


def submit_line(pipeline: Pipeline, file: Path, options: argparse.Namespace) -> list[str]:
    """The words of the line.

    In client mode, the driver runs here and reads the file where it is. In cluster mode and on Kubernetes it runs
    elsewhere, and Spark brings the file and those that it includes; the driver's Python needs this distribution.
    """
    from spark_avro import packages  # noqa: PLC0415 - with pyspark
    from spark_avro.pipeline.formats import table_formats  # noqa: PLC0415

    main = str(resources.files("spark_avro.pipeline") / "main.py")
    is_elsewhere = options.deploy_mode == "cluster"
    settings = {"spark.sql.session.timeZone": "UTC", **pipeline.spark}
    line = ["spark-submit", "--master", options.master, "--deploy-mode", options.deploy_mode, "--name", pipeline.name]
    line += ["--packages", packages(formats=table_formats(pipeline))]
    for name, value in sorted(settings.items()):
        line += ["--conf", f"{name}={value}"]
    if is_elsewhere:
        files = [file, *(file.parent / name for name in pipeline.include)]
        line += ["--files", ",".join(str(path.resolve()) for path in files)]
    line += [main, file.name if is_elsewhere else str(file)]
    for override in options.overrides:
        line += ["--set", override]
    return line + (["--name", options.name] if options.name else [])
