"""The settings of a registry client as groups of the reference."""

from __future__ import annotations

from magicbyte.kit.settings.catalog import Group, section_groups
from serdes.client.config import PREFIX, ClientSettings
from serdes.client.sign_in_settings import SignInRows
from serdes.client.tls_settings import WITHOUT_EFFECT, TlsRows

#: The beginning of the environment variables.
_VARIABLES = "MAGICBYTE_"
_SECTIONS = {"Registry client": ClientSettings, "Sign-in at the registry": SignInRows, "TLS to the registry": TlsRows}
_IDLE = "OpenSSL speaks TLS here, not Java"


def client_groups() -> list[Group]:
    """The groups of the settings, under the names that commands use: those with the prefix."""
    idle = {PREFIX + name: _IDLE for name in WITHOUT_EFFECT}
    return [*section_groups(_SECTIONS, _VARIABLES, PREFIX), Group("", _VARIABLES, (), idle)]
