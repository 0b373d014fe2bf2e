"""The metrics ports of pipelines that the page asks, as a setting names them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from magicbyte.kit.settings.server import parts_of

#: All ports are asked at once, so their number is limited.
MOST_PORTS = 100
_PART = re.compile(r"(?:([^=/:]*)=)?(.*)")
_NAME = re.compile("[a-z0-9-]{1,60}")
#: What a URL may have: no blanks, no control characters, no letters beyond ASCII.
_URL = re.compile("[!-~]+")
#: A port in the setting, as JavaScript and Python read the pattern.
PART = r"(?:[a-z0-9-]{1,60}=)?[hH][tT][tT][pP][sS]?://[^\s,?#@/]+(?:/[^\s,?#]*)?"


@dataclass(frozen=True, slots=True)
class MetricsPort:
    """A metrics port.

    Attributes:
        url: Its URL, without a slash at the end and without `/metrics`.
        pipeline: The name of the pipeline that it should be of; empty if the setting does not say.
    """

    url: str
    pipeline: str = ""


def metrics_ports(value: Any) -> tuple[MetricsPort, ...]:
    """The ports of a setting: URLs with commas between, each perhaps after a pipeline's name and `=`.

    Raises:
        ValueError: A part is no URL, a name is none of a pipeline, a port is named twice, or there are too many.
    """
    ports = tuple(map(_port, parts_of(value)))
    if len(ports) > MOST_PORTS:
        raise ValueError(f"at most {MOST_PORTS} metrics ports; there are {len(ports)}")
    for values in ([port.url for port in ports], [port.pipeline for port in ports if port.pipeline]):
        twice = next((text for text in values if values.count(text) > 1), None)
        if twice is not None:
            raise ValueError(f"{twice} is named twice")
    return ports


def _port(text: str) -> MetricsPort:
    match = _PART.fullmatch(text)
    name, url = match.groups() if match is not None else (None, text)
    if name is not None and not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no pipeline's name; it has 1 to 60 letters a-z, digits and `-`")
    return MetricsPort(_checked(url).rstrip("/").removesuffix("/metrics").rstrip("/"), name or "")


def _checked(url: str) -> str:
    wrong = f"{url!r} is not the http URL of a metrics port; write it as http://127.0.0.1:9109"
    try:
        parts = urlsplit(url)
        has_port = parts.port != 0
    except ValueError:
        raise ValueError(wrong) from None
    is_http = parts.scheme in ("http", "https") and parts.hostname and not parts.query and not parts.fragment
    if not is_http or not has_port or not _URL.fullmatch(url):
        raise ValueError(wrong)
    if parts.username is not None or parts.password is not None:
        raise ValueError("the URL of a metrics port must not contain a user name or password")
    return url
