"""The end of a pipeline's command: exit codes, and errors as lines on stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable

from magicbyte.kit.failure import Failure
from serdes.console.outcome import BAD_DATA, BAD_USAGE, NOT_DELIVERED, Ended, carried_out, exit_code

PROGRAM = "magicbyte pipeline"
#: Findings of a check, a dry run or a test.
FINDINGS = 100
#: A run that Ctrl-C ended after a batch.
INTERRUPTED = 130
#: The most lines of an error of Spark's that are shown.
_LINES = 12


def pipeline_outcome(run: Callable[[], int]) -> int:
    """Run a command; returns its exit code, and writes an error to stderr without a stack trace."""
    return carried_out(PROGRAM, lambda: _ended(run))


def _ended(run: Callable[[], int]) -> int:
    try:
        return run()
    except (Ended, KeyboardInterrupt):
        raise
    except Exception as error:
        code = code_of(error)
        if code is None:
            raise
        raise Ended(code, _text(error)) from error


def code_of(error: Exception) -> int | None:
    """The exit code for an error; None for a bug in this program."""
    from spark_avro.pipeline.file.place import PipelineError  # noqa: PLC0415 - not for --help

    if isinstance(error, PipelineError):
        return BAD_USAGE
    code = exit_code(error)
    if code is not None:
        return code
    if isinstance(error.__cause__, Exception) and (exit_code(error.__cause__) == NOT_DELIVERED):
        return NOT_DELIVERED
    if isinstance(error, Failure | ValueError) or _is_of_spark(error):
        return BAD_DATA
    return None


def _is_of_spark(error: Exception) -> bool:
    # An error of Spark's only exists if PySpark was imported.
    errors = sys.modules.get("pyspark.errors")
    py4j = sys.modules.get("py4j.protocol")
    return (errors is not None and isinstance(error, errors.PySparkException)) or (
        py4j is not None and isinstance(error, py4j.Py4JJavaError)
    )


def _text(error: Exception) -> str:
    text = str(error)
    if _is_of_spark(error):
        text = "\n".join(text.partition("\nJVM stacktrace")[0].splitlines()[:_LINES])
    return "\n".join((text or type(error).__name__, *getattr(error, "__notes__", ())))
