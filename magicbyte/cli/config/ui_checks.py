"""The refusals of `magicbyte ui`."""

from __future__ import annotations

from magicbyte.cli.config.checking import Refusals
from magicbyte.cli.servers.ui import is_of_page, require_http
from magicbyte.http.addresses import warn_of_foreign
from magicbyte.kit.failure import Failure
from magicbyte.ui.settings import UiSettings
from serdes.client.config import client_options
from serdes.error import SerdesError


def find_refusals(properties: dict[str, str], found: Refusals) -> None:
    """Do the checks of the start of `magicbyte ui`.

    Args:
        properties: The properties, without placeholders.
        found: Gets the refusals.
    """
    of_page = {name: value for name, value in properties.items() if is_of_page(name)}
    client = {name: value for name, value in properties.items() if not is_of_page(name)}
    settings = found.settings(UiSettings.from_properties, of_page)
    if settings is not None:
        found.run(lambda: require_http(settings))
        warn_of_foreign([settings.listener])
    found.run(lambda: _check_client(client))


def _check_client(client: dict[str, str]) -> None:
    try:
        client_options(client, are_resolved=True)
    except SerdesError as error:
        raise Failure(str(error)) from error
