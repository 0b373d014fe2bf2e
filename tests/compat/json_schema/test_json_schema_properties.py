"""If two JSON Schemas are compatible, the new one accepts all that the old one accepts.

The schemas are drawn from all that the reference compares soundly; test_json_schema_exceptions.py has the changes that
it judges wrongly.
"""

from __future__ import annotations

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from tests.compat.json_schema.drawing import DRAFTS, Drawing, is_compatible


@pytest.mark.parametrize("draft", DRAFTS)
@given(seed=st.integers(0, 2**64))
@settings(max_examples=400, deadline=None)
def test_a_compatible_schema_accepts_all_data_of_the_old_schema(draft: str, seed: int):
    drawing = Drawing(draft, seed)
    old, new = drawing.pair()
    if not is_compatible(old, new, draft):
        return
    event("compatible pair")
    accepts, reads = (DRAFTS[draft][1](schema) for schema in (old, new))
    for _ in range(10):
        value = drawing.instance(old, old, 5)
        if accepts.is_valid(value):
            event("instance judged")
            assert reads.is_valid(value), f"{old} accepts {value}, {new} does not"
