"""The same rule sets in this library and in confluent-kafka, in both roles; tests/fuzz/fuzz_rules.py runs many more."""

from __future__ import annotations

from random import Random

import pytest

from magicbyte.testing import running_registry
from tests.serdes.rules.random_rules import Both

CASES = 40


@pytest.mark.slow
def test_random_rule_sets_have_the_same_verdicts():
    with running_registry(properties={"magicbyte.rules.check": "off"}) as registry:
        both = Both(registry.url)
        differences = [found for number in range(CASES) for found in both.differences(number, Random(number))]
    assert differences == []
