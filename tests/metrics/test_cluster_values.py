"""The values of a real cluster of two after use."""

from __future__ import annotations

import pytest

from tests.metrics.exercise import Scrape


def value(scrape: Scrape, name: str, **labels: str) -> float:
    samples = [sample for family in scrape.families for sample in family.samples if sample.name == name]
    return sum(sample.value for sample in samples if labels.items() <= sample.labels.items())


@pytest.fixture(scope="module")
def pair(scrapes: list[Scrape]) -> list[Scrape]:
    """The leader, and the other node."""
    return [scrape for scrape in scrapes if scrape.program == "registry"][:2]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "labels", "leader", "follower"),
    [
        ("magicbyte_registry_leader", {}, 1, 0),
        ("magicbyte_registry_ready", {}, 1, 1),
        ("magicbyte_registry_nodes", {}, 2, 2),
        ("magicbyte_registry_leader_changes_total", {}, 1, 0),
        ("magicbyte_registry_takeover_seconds_count", {}, 1, 0),
        ("magicbyte_registry_fenced_total", {}, 0, 0),
        ("magicbyte_registry_forwarded_total", {"outcome": "answered"}, 0, 1),
        ("magicbyte_registry_forward_seconds_count", {}, 0, 1),
        ("magicbyte_registry_registrations_total", {"outcome": "incompatible"}, 1, 0),
    ],
)
def test_a_node_counts_its_own_work(
    pair: list[Scrape], name: str, labels: dict[str, str], leader: int, follower: int
) -> None:
    assert [value(scrape, name, **labels) for scrape in pair] == [leader, follower]


@pytest.mark.slow
def test_both_nodes_see_the_same_log(pair: list[Scrape]) -> None:
    ends = {value(scrape, "magicbyte_registry_end_offset") for scrape in pair}
    assert len(ends) == 1
    assert {value(scrape, "magicbyte_registry_subjects") for scrape in pair} == {6}
