"""Rules that Python workers carry out, by the plan of serdes and so by the same engine as everywhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from spark_avro.rules.listed import ListedRule

if TYPE_CHECKING:
    from spark_avro.rules.carrying import Carried


@dataclass(frozen=True, slots=True)
class WorkerRule:
    listed: ListedRule

    def after(self, before: Carried) -> Carried:
        raise NotImplementedError
