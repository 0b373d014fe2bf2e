"""`magicbyte spark-packages`: the Maven coordinates of the modules that Spark needs, as `--packages` takes them."""

from __future__ import annotations

from collections.abc import Sequence

from magicbyte.cli.pipeline.options import add_overrides
from magicbyte.cli.pipeline.outcome import pipeline_outcome
from magicbyte.kit.command_line import CommandParser
from magicbyte.kit.extras import require
from serdes.console.outcome import tell

PROGRAM = "magicbyte spark-packages"


def main(arguments: Sequence[str]) -> int:
    """Print the packages of a pipeline file, or by default those of Avro and Kafka; returns the exit code."""
    return pipeline_outcome(lambda: _run(arguments))


def _run(arguments: Sequence[str]) -> int:
    parser = CommandParser(prog=PROGRAM, description=__doc__, examples=("magicbyte spark-packages orders.yaml",))
    parser.add_argument("file", metavar="FILE", nargs="?", help="the pipeline file (default: Avro and Kafka alone)")
    add_overrides(parser)
    options = parser.parse_args(arguments)
    require("spark", user=f"`{PROGRAM}`", modules=("yaml", "pyspark"))
    from magicbyte.cli.pipeline.session import read_file  # noqa: PLC0415 - after the check for YAML
    from magicbyte.cli.pipeline.submitting import packages_of  # noqa: PLC0415
    from spark_avro import packages  # noqa: PLC0415
    from spark_avro.pipeline.modules import other_databases  # noqa: PLC0415

    if options.file is None:
        print(packages())
        return 0
    pipeline = read_file(options)
    print(packages_of(pipeline))
    for database in other_databases(pipeline):
        tell(PROGRAM, f"jdbc:{database}: add the package of its JDBC driver, which is not in this list")
    return 0
