"""Server settings by Confluent's property names, checked and typed."""

from __future__ import annotations

import difflib
import logging
from collections.abc import Mapping
from typing import Self

from pydantic import BaseModel, ConfigDict, ValidationError

from magicbyte.kit.failure import Failure
from magicbyte.kit.secret import hide_user_info, shown

log = logging.getLogger("magicbyte.kit.settings")


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
