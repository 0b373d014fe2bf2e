"""Configs and modes of a registry: global ones, those of contexts, and those of subjects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

from magicbyte.operations.registry_end import RegistryEnd
from magicbyte.operations.sources.foreign.listing import found
from registry.state.model import DEFAULT_CONTEXT, MODES, READWRITE, Config
from serdes.client.requester import path

#: The level of a server on which none is set.
_USUAL_LEVEL = "BACKWARD"
_GLOBAL_UNSURE = (
    "the registry does not tell whether its global level and mode are set or its defaults: they are kept as settings "
    "where they are not BACKWARD and READWRITE"
)
_ONLY_LISTED = "settings of subjects that have no version cannot be listed, and are not included"
_MODES_OF_ALL = "every subject answers with the global mode as its own, so modes of subjects are not included"


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings that can be found.

    Attributes:
        configs, modes: As in a `State`.
        defaults: The effective global settings.
        notes: What the registry does not tell.
    """

    configs: Mapping[str | None, Config]
    modes: Mapping[str | None, str]
    defaults: Mapping[str, str]
    notes: tuple[str, ...]


def read_settings(end: RegistryEnd, pool: Executor, contexts: Iterable[str], subjects: Iterable[str]) -> Settings:
    """Read the settings of contexts and subjects, and the global ones."""
    names = [*(f":{name}:" for name in contexts if name != DEFAULT_CONTEXT), *sorted(subjects)]
    own_configs = zip(names, pool.map(lambda name: _config(found(end, path("config", name))), names), strict=True)
    own_modes = zip(names, pool.map(lambda name: _mode(found(end, path("mode", name))), names), strict=True)
    configs: dict[str | None, Config] = {name: config for name, config in own_configs if config is not None}
    modes: dict[str | None, str] = {name: mode for name, mode in own_modes if mode is not None}
    global_config, global_mode = _config(found(end, "/config")), _mode(found(end, "/mode"))
    notes = [_GLOBAL_UNSURE, _ONLY_LISTED]
    # Karapace has no modes of subjects, and answers with the global one for each.
    if len(modes) == len(names) > 0 and set(modes.values()) == {global_mode or READWRITE.name}:
        modes = {}
        notes.append(_MODES_OF_ALL)
    defaults: dict[str, str] = {}
    if global_config is not None:
        defaults["compatibilityLevel"] = global_config.compatibility_level or ""
        if global_config != Config(compatibility_level=_USUAL_LEVEL):
            configs[None] = global_config
    if global_mode is not None:
        defaults["mode"] = global_mode
        if global_mode != READWRITE.name:
            modes[None] = global_mode
    return Settings(configs, modes, defaults, tuple(notes))


def _config(answer: Any) -> Config | None:
    """A config; a server that has no level of its own answers without one."""
    if not isinstance(answer, dict):
        return None
    level = answer.get("compatibilityLevel") or answer.get("compatibility")
    config = Config.from_json({**answer, "compatibilityLevel": level})
    return None if config == Config() else config


def _mode(answer: Any) -> str | None:
    mode = answer.get("mode") if isinstance(answer, dict) else None
    return mode if isinstance(mode, str) and mode in MODES else None
