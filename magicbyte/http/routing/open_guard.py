"""Opens the guard that a server's settings require, and imports it only then."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from magicbyte.http.routing.guard import Guard
    from magicbyte.http.settings import HttpSettings


def open_guard(settings: HttpSettings, *, realm: str, audience: str) -> Guard | None:
    """Return the guard that the settings require; None if no sign-in is required.

    Args:
        settings: The settings.
        realm: The realm of the challenges if the settings name none.
        audience: The group of nodes that forward requests to each other.

    Raises:
        Failure: Users or keys cannot be loaded.
    """
    if settings.is_open:
        return None
    from magicbyte.http.routing.guard import Guard  # noqa: PLC0415  what it needs takes long to import

    return Guard(settings, realm=realm, audience=audience)
