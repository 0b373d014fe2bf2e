"""Each metric of a real scrape is declared, and so in docs/metrics.md; each declared one is in a real scrape."""

from __future__ import annotations

import pytest

from magicbyte.kit.metrics import Declared
from tests.metrics.exercise import Scrape
from tools.metric_tables import PROGRAMS, declared

#: Only with settings or events that the exercise does not have.
NOT_MET = {"with `magicbyte.metrics.librdkafka`", "after a reload"}


def of_program(program: str) -> dict[str, Declared]:
    return {metric.name: metric for metric in declared(*PROGRAMS[program])}


def full_name(name: str, kind: str) -> str:
    return f"{name}_total" if kind == "counter" else name


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS)
def test_every_metric_of_a_scrape_is_declared(program: str, scrapes: list[Scrape]) -> None:
    metrics = of_program(program)
    for family in (family for scrape in scrapes if scrape.program == program for family in scrape.families):
        if family.name.endswith("_created"):
            assert program in ("pipeline", "backup")
            continue
        metric = metrics[full_name(family.name, family.type)]
        assert family.type == metric.kind
        labels = {label for sample in family.samples for label in sample.labels if label != "le"}
        # The label `topic` is only there with a setting.
        assert labels == set(metric.labels) - {"topic"} or labels == set(metric.labels), family.name


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS)
def test_every_declared_metric_is_in_a_scrape(program: str, scrapes: list[Scrape]) -> None:
    met = {
        full_name(family.name, family.type)
        for scrape in scrapes
        if scrape.program == program
        for family in scrape.families
    }
    missing = {name for name, metric in of_program(program).items() if name not in met and metric.only not in NOT_MET}
    # No proxy with TLS and sign-in runs here; both servers have the same code for these.
    missing -= {name for name in missing if program == "rest proxy" and name.startswith(SECURITY_NAMES)}
    assert missing == set()


SECURITY_NAMES = ("magicbyte_security_", "magicbyte_authentication_", "magicbyte_authorization_", "magicbyte_tls_")


def test_no_metric_is_declared_twice_in_a_program() -> None:
    for tables in PROGRAMS.values():
        names = [metric.name for metric in declared(*tables)]
        assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    "metric", [metric for tables in PROGRAMS.values() for metric in declared(*tables)], ids=lambda metric: metric.name
)
def test_a_metric_is_named_and_described_as_its_kind(metric: Declared) -> None:
    assert metric.text.endswith(".")
    assert metric.name.endswith("_total") == (metric.kind == "counter")
