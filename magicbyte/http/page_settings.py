"""Settings of the page at /ui, for every server that serves it."""

from __future__ import annotations

import re
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from magicbyte.http.settings import HttpSettings

_COLOR = re.compile(r"#[0-9A-Fa-f]{6}")


def _url(value: str) -> str:
    parts = urlsplit(value)
    if value and (parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment):
        raise ValueError("not an http URL; write it as http://localhost:8082")
    if parts.username is not None or parts.password is not None:
        raise ValueError("the URL must not contain a user name or password; the browser's credentials are passed on")
    return value.rstrip("/")


def _color(value: str) -> str:
    if value and not _COLOR.fullmatch(value):
        raise ValueError("not a color; write it as #ae231c")
    return value.lower()


class PageSettings(HttpSettings):
    """The page's name, what it may change, and the REST proxy behind it."""

    page_enabled: bool = Field(True, alias="magicbyte.ui.enabled")
    page_read_only: bool = Field(False, alias="magicbyte.ui.read.only")
    rest_url: Annotated[str, AfterValidator(_url)] = Field("", alias="magicbyte.ui.rest.url")
    page_name: str = Field("", alias="magicbyte.ui.name", max_length=40)
    page_color: Annotated[str, AfterValidator(_color)] = Field("", alias="magicbyte.ui.color")
