"""A few failovers of `make chaos AREA=dr_promoted`, and the checker itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from magicbyte.operations.recovery import promote
from tests.chaos.kit.id_ledger import Ledger
from tests.chaos.kit.simulated_failovers import simulation

pytestmark = pytest.mark.slow
_Targets = Callable[..., Mapping[str, int]]


def test_no_id_is_given_twice_over_failovers() -> None:
    with simulation(seed=5) as row:
        row.run(4)
        assert row.problems == []
        assert row.counts["ids lost"] > 0


def _without_gap(targets: _Targets) -> _Targets:
    return lambda copy, mark, ids, _gap: targets(copy, mark, ids, 0)


def _without_new_contexts(targets: _Targets) -> _Targets:
    return lambda *of: {name: mark for name, mark in targets(*of).items() if name != ".__GLOBAL"}


@pytest.mark.parametrize("broken", [_without_gap, _without_new_contexts])
def test_the_checker_finds_ids_that_a_promotion_without_gaps_gives_twice(
    broken: Callable[[_Targets], _Targets], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(promote, "_targets", broken(promote._targets))
    with simulation(seed=5) as row:
        row.run(4)
        assert "was given to two texts" in " ".join(row.problems)


def test_a_ledger_counts_what_a_lost_registry_gave_above_its_standby() -> None:
    ledger = Ledger()
    gifts: list[tuple[str, int, Any]] = [("a", 3, "x"), (":.eu:a", 9, "y"), (":.new:a", 12, "z")]
    for subject, schema_id, text in gifts:
        ledger.note("A1", subject, schema_id, text)
    assert ledger.most_lost("A1", {".": 3, ".eu": 5}, floor=10) == 4
    assert ledger.most_lost("A1", {".": 3, ".eu": 9}, floor=10) == 2
    ledger.note("B1", "b", 3, "x")
    assert ledger.problems == []
    ledger.note("B1", "b", 3, "other")
    assert len(ledger.problems) == 1
