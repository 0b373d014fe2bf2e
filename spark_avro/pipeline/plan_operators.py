"""The operators in Spark's plan of rows."""

from __future__ import annotations

import re
from collections import Counter

from pyspark.sql import DataFrame

#: The name of an operator, after the lines that draw the tree; `~` marks a streaming operator.
_OPERATOR = re.compile(r"^[\s:|+~-]*(\w+)", re.MULTILINE)


def plan_operators(rows: DataFrame) -> Counter[str]:
    """Count the occurrences of each operator in the analyzed plan of rows, by its name, such as `Aggregate`."""
    return Counter(_OPERATOR.findall(str(rows._jdf.queryExecution().analyzed())))  # noqa: SLF001 - PySpark's way to the plan
