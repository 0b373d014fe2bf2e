"""The compose files, with their anchors and merges resolved as Compose does it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parents[2] / "deploy" / "compose"
FILES = ("compose.yaml", "compose.secured.yaml")


def services(name: str) -> Mapping[str, Mapping[str, Any]]:
    """The services of a file, with the defaults of its variables."""
    text = re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", (FOLDER / name).read_text())
    loaded: Mapping[str, Mapping[str, Any]] = yaml.safe_load(text)["services"]
    return loaded


def ours(name: str) -> Mapping[str, Mapping[str, Any]]:
    """The services that run a server of ours."""
    return {
        service: settings
        for service, settings in services(name).items()
        if settings["image"] == "magicbyte:latest" and "entrypoint" not in settings
    }


def variables(settings: Mapping[str, Any]) -> dict[str, str]:
    """The variables of a service as its process sees them."""
    assert all(isinstance(value, str) for value in settings["environment"].values())
    return {variable: value.replace("$$", "$") for variable, value in settings["environment"].items()}
