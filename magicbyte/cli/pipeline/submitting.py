"""`submit` and `main`: the spark-submit line of a pipeline, and the program that it runs."""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from magicbyte.cli.pipeline.session import read_file
from magicbyte.kit.secret import is_secret

if TYPE_CHECKING:
    from spark_avro.pipeline.file.pipeline import Pipeline


def submit(options: argparse.Namespace) -> int:
    """Print the line, or run it with the jars of the cache."""
    pipeline = read_file(options)
    if not options.execute:
        modules = {"spark.jars.packages": packages_of(pipeline)}
        print(shlex.join(["spark-submit", *submit_words(pipeline, modules, options)]))
        return 0
    return _execute(submit_words(pipeline, _cached(pipeline), options))


def program(_options: argparse.Namespace) -> int:
    """Print the path of the program that spark-submit runs."""
    print(main_program())
    return 0


def packages_of(pipeline: Pipeline) -> str:
    """The modules that a pipeline needs, as `--packages` takes them."""
    from spark_avro import packages as packages_with  # noqa: PLC0415 - with pyspark
    from spark_avro.pipeline.modules import jdbc_drivers, table_formats  # noqa: PLC0415

    return packages_with(formats=table_formats(pipeline), drivers=jdbc_drivers(pipeline))


def session_properties(pipeline: Pipeline, properties: Mapping[str, str]) -> dict[str, str]:
    """Spark's properties for a session as `run` starts it: UTC, table formats, and the limits of Avro's reader.

    Args:
        pipeline: The file.
        properties: The file's properties that may be printed; they override the others.
    """
    from spark_avro.pipeline.modules import table_formats  # noqa: PLC0415 - with pyspark
    from spark_avro.spark_session import format_properties, java_options  # noqa: PLC0415

    of_formats = format_properties(table_formats(pipeline))
    return {"spark.sql.session.timeZone": "UTC", **of_formats, **properties, **java_options(properties)}


def _cached(pipeline: Pipeline) -> Mapping[str, str]:
    from spark_avro.pipeline.modules import jdbc_drivers, table_formats  # noqa: PLC0415 - with pyspark
    from spark_avro.spark_session import modules  # noqa: PLC0415

    return modules(table_formats(pipeline), jdbc_drivers(pipeline))


def main_program() -> str:
    """The path of the program that spark-submit runs."""
    return str(resources.files("spark_avro.pipeline") / "main.py")


def _execute(words: Sequence[str]) -> int:
    import pyspark  # noqa: PLC0415 - starts slowly

    from magicbyte.platform.java import find_spark_java  # noqa: PLC0415 - looks for a JDK

    home = Path(pyspark.__file__).parent
    environment = {**os.environ, "JAVA_HOME": str(find_spark_java(pyspark.__version__).home), "SPARK_HOME": str(home)}
    environment.setdefault("PYSPARK_PYTHON", sys.executable)
    command = [str(home / "bin" / "spark-submit"), *words]
    return subprocess.run(command, check=False, env=environment).returncode  # noqa: S603 - our own line


def submit_words(pipeline: Pipeline, modules: Mapping[str, str], options: argparse.Namespace) -> list[str]:
    """The words of the line after `spark-submit`.

    In client mode, the driver runs here and reads the file where it is. In cluster mode and on Kubernetes it runs
    elsewhere, and Spark brings the file and those that it includes; the driver's Python needs this distribution.

    Args:
        pipeline: The file.
        modules: The Spark property that names the modules.
        options: The command's options.
    """
    file = Path(options.file)
    is_elsewhere = options.deploy_mode == "cluster"
    # Other processes see a command line; main.py reads the secrets from the file.
    public = {name: value for name, value in pipeline.spark.items() if not is_secret(name)}
    settings = {**modules, **session_properties(pipeline, public)}
    line = ["--master", options.master, "--deploy-mode", options.deploy_mode, "--name", pipeline.name]
    for name, value in sorted(settings.items()):
        line += ["--conf", f"{name}={value}"]
    if is_elsewhere:
        from spark_avro.pipeline.file.reading import included_files  # noqa: PLC0415 - needs YAML

        files = [file, *included_files(file)]
        line += ["--files", ",".join(str(path.resolve()) for path in files)]
    line += [main_program(), file.name if is_elsewhere else str(file)]
    for override in options.overrides:
        line += ["--set", override]
    return line + (["--name", options.name] if options.name else [])
