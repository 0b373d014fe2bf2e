"""Server settings from Confluent's property names: a file, environment variables and the command line."""

from __future__ import annotations

import difflib
import logging
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, ValidationError

from magicbyte.kit.failure import Failure
from magicbyte.kit.secret import hide_user_info, shown

log = logging.getLogger("magicbyte.kit.settings")

#: What Kubernetes injects for a Service, such as SCHEMA_REGISTRY_PORT=tcp://10.0.0.1:8081; no setting of a user's.
_SERVICE_LINK = re.compile(r".*_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_\w+)?)")


class SettingsError(Failure, ValueError):
    """A property with a value that cannot be; the text names the property."""


class ServerSettings(BaseModel):
    """Typed settings whose aliases are property names; a subclass lists them.

    Unknown names are warned of with the nearest known one. A subclass that passes properties on keeps all of them in a
    field `properties`.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)

    @classmethod
    def open_prefixes(cls) -> tuple[str, ...]:
        """Prefixes under which any name is passed on."""
        return ()

    @classmethod
    def without_effect(cls) -> Mapping[str, str]:
        """Properties of the reference that change nothing here -> why."""
        return {}

    @classmethod
    def from_properties(cls, properties: Mapping[str, str]) -> Self:
        """Check and type the properties; warns of unknown ones and of those without effect.

        Raises:
            SettingsError: A value is wrong; names the property.
        """
        idle = cls.without_effect()
        for name in properties.keys() & idle.keys():
            log.warning("property %s has no effect: %s", name, idle[name])
        properties = {name: value for name, value in properties.items() if name not in idle}
        known = {field.alias or name for name, field in cls.model_fields.items()}
        for name in properties:
            if name not in known and not name.startswith(cls.open_prefixes() or ("\0",)):
                near = difflib.get_close_matches(name, known, n=1)
                log.warning("unknown property %s%s", name, f"; did you mean {near[0]}?" if near else "")
        try:
            typed = {name: value for name, value in properties.items() if name in known}
            settings = cls.model_validate({**typed, "properties": dict(properties)})
        except ValidationError as error:
            first = error.errors()[0]
            name = str(first["loc"][0]) if first["loc"] else "settings"
            raise SettingsError(f"{name}: {hide_user_info(first['msg'])} (was {shown(name, first['input'])})") from None
        return settings


def properties_from_environment(prefix: str, environment: Iterable[tuple[str, str]] | None = None) -> dict[str, str]:
    """The properties set by variables with a prefix, by the rules of Confluent's images.

    `_` stands for `.`, `__` for `-` and `___` for `_`; `NAME_FILE` gives the path of a file that holds the value.
    What Kubernetes injects for a Service of the same name is passed over.
    """
    properties: dict[str, str] = {}
    for name, value in os.environ.items() if environment is None else environment:
        if not name.startswith(prefix) or (_SERVICE_LINK.fullmatch(name) and "://" in value):
            continue
        rest = name.removeprefix(prefix)
        if _SERVICE_LINK.fullmatch(f"_{rest}") and "SERVICE" in rest:
            continue
        if rest.endswith("_FILE") and Path(value).is_file():
            rest, value = rest.removesuffix("_FILE"), Path(value).read_text(encoding="utf-8").strip()  # noqa: PLW2901
        parts = re.split(r"(_+)", rest.lower())
        separators = {"_": ".", "__": "-", "___": "_"}
        properties["".join(separators.get(part, part) for part in parts)] = value
    return properties
