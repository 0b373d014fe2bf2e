"""The level in effect and its origin agree with the whole config in effect."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from registry.log.port import Record
from registry.state import records
from registry.state.model import Config
from registry.state.records import Key
from registry.state.resolve import Origin, effective_config, effective_mode, level_in_effect, mode_in_effect
from registry.state.view import View

PLACES = {
    None: Origin.GLOBAL,
    ":.__GLOBAL:": Origin.GLOBAL,
    ":.eu:": Origin.CONTEXT,
    ":.eu:s": Origin.SUBJECT,
    "s": Origin.SUBJECT,
}
CONFIGS = st.builds(
    Config,
    compatibility_level=st.sampled_from([None, "FULL", "NONE"]),
    normalize=st.sampled_from([None, True]),
)


@settings(max_examples=200, deadline=None, database=None)
@given(
    st.dictionaries(st.sampled_from(list(PLACES)), CONFIGS),
    st.dictionaries(st.sampled_from(list(PLACES)), st.sampled_from(["READWRITE", "READONLY", "READONLY_OVERRIDE"])),
    st.sampled_from([*PLACES, ":.us:s", "other"]),
)
def test_a_setting_has_the_value_of_its_origin(
    configs: dict[str | None, Config], modes: dict[str | None, str], subject: str | None
) -> None:
    view = View()
    for place, config in configs.items():
        key = Key(records.CONFIG, place)
        view.apply_record(Record(records.encode_key(key), records.encode_config(key, config), 0))
    for place, mode in modes.items():
        key = Key(records.MODE, place)
        view.apply_record(Record(records.encode_key(key), records.encode_mode(key, mode), 0))
    level, origin = level_in_effect(view, subject, "BACKWARD")
    assert level == effective_config(view, subject, "BACKWARD").compatibility_level
    levels = {PLACES[place]: config.compatibility_level for place, config in configs.items()}
    assert (origin in levels) if origin is not Origin.SERVER else level == "BACKWARD"
    mode_in_force, mode_origin = mode_in_effect(view, subject)
    assert mode_in_force == effective_mode(view, subject)
    assert (mode_origin is Origin.SERVER) <= (mode_in_force.name == "READWRITE")
    assert mode_origin is Origin.SERVER or mode_origin in {PLACES[place] for place in modes}
