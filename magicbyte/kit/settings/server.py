"""Server settings by Confluent's property names, checked and typed."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Self

from pydantic import BaseModel, ConfigDict, ValidationError

from magicbyte.kit.secret import hide_user_info, shown
from magicbyte.kit.settings.place import SettingsError, nearest

log = logging.getLogger("magicbyte.kit.settings")


class ServerSettings(BaseModel):
    """Typed settings whose aliases are property names; a subclass lists them.

    An unknown name logs a warning with the nearest known name. A subclass that passes properties on keeps all of them
    in a field `properties`.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)

    @classmethod
    def open_prefixes(cls) -> tuple[str, ...]:
        """Prefixes of names that are passed on unchecked."""
        return ()

    @classmethod
    def without_effect(cls) -> Mapping[str, str]:
        """Properties of the reference that have no effect here -> the reason."""
        return {}

    @classmethod
    def from_properties(cls, properties: Mapping[str, str]) -> Self:
        """Check and convert the properties; logs a warning for unknown properties and for those without effect.

        Raises:
            SettingsError: A value is wrong; names the property.
        """
        idle = cls.without_effect()
        for name in properties.keys() & idle.keys():
            log.warning("property %s has no effect: %s", name, idle[name])
        properties = {name: value for name, value in properties.items() if name not in idle}
        setting_names = {field.alias or name for name, field in cls.model_fields.items()}
        for name in properties:
            if name not in setting_names and not name.startswith(cls.open_prefixes() or ("\0",)):
                log.warning("unknown property %s%s", name, nearest(name, setting_names))
        try:
            typed = {name: value for name, value in properties.items() if name in setting_names}
            settings = cls.model_validate({**typed, "properties": dict(properties)})
        except ValidationError as error:
            first = error.errors()[0]
            name = str(first["loc"][0]) if first["loc"] else "settings"
            raise SettingsError(f"{name}: {hide_user_info(first['msg'])} (was {shown(name, first['input'])})") from None
        return settings
