"""Declared pipelines: a YAML file with a source, steps and a sink, run by Structured Streaming.

The package can be called: `spark_avro.pipeline("flights.yaml")` is `spark_avro.pipeline.api.pipeline`. Python binds the
name of an imported subpackage in its parent, so a function of the same name would be hidden by it.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    def __call__(self, *arguments: Any, **named: Any) -> Any:
        from spark_avro.pipeline.api import pipeline  # noqa: PLC0415 - it imports this package

        return pipeline(*arguments, **named)


sys.modules[__name__].__class__ = _Callable
