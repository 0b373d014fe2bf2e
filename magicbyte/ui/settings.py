"""The settings of `magicbyte ui`, which serves the page in front of any registry."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field

from magicbyte.http.listener import Listener, parse_listener
from magicbyte.http.page_settings import PageSettings
from magicbyte.kit.settings.property_words import Takes


class UiSettings(PageSettings):
    """The page's settings, and its listener."""

    title = "Server"

    listener: Annotated[
        Listener,
        BeforeValidator(parse_listener),
        Takes("an address such as `http://0.0.0.0:8080`", default="`http://127.0.0.1:8080`"),
    ] = Field(
        Listener("http", "127.0.0.1", 8080), alias="listeners", description="The address to listen on (`--listen`)."
    )
