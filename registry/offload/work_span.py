"""The spans of reading and comparing schemas, in this process or in a worker."""

from __future__ import annotations

from contextlib import AbstractContextManager

from magicbyte.kit.traces.span import Span
from magicbyte.kit.traces.tracing import TRACING, span
from registry.offload.jobs import CompareOutlines, FindSame, Judge, Task


def work_span(task: Task, schema_type: str, *, in_worker: bool) -> AbstractContextManager[Span | None]:
    """The span `compatibility` of a comparison, or `parse` of any other task.

    Args:
        task: What is done.
        schema_type: The type of the schema.
        in_worker: Whether another process does it.
    """
    if TRACING.tracer is None:
        return span("")
    attributes: dict[str, str | bool] = {
        "magicbyte.task": type(task).__name__,
        "magicbyte.schema.type": schema_type,
        "magicbyte.in_worker": in_worker,
    }
    if isinstance(task, Judge):
        attributes["magicbyte.compatibility.level"] = task.level
    compares = isinstance(task, Judge | FindSame | CompareOutlines)
    return span("compatibility" if compares else "parse", attributes)
