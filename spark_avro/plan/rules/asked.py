"""Rules and schemas that workers look up while a query runs."""

from __future__ import annotations

from typing import Any

from spark_avro.errors import PlanError
from spark_avro.plan.rules.reading import ReadRules


def check_asked(rules: ReadRules, asked: Any) -> None:
    """Refuse to look schemas up for which the rules are not planned.

    Args:
        rules: The rules.
        asked: The settings of the registry's client for looking up other ids; None if other ids are errors.

    Raises:
        PlanError: Rules run before messages are decoded, and schemas are looked up.
    """
    if asked is not None and rules.by_id:
        task = next(iter(rules.by_id.values()))
        raise PlanError(
            f"ask_registry: {task.names} of the schemas run in workers, which know them only for the schemas of the"
            " plan; use a Follower, which plans again, or rules='ignore'"
        )
