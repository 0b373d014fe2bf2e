"""Opening a source by its name: a URL, `kafka:`, `sqlite:` or `postgresql:`, or a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from magicbyte.kit.extras import require
from magicbyte.kit.failure import Failure
from magicbyte.kit.secret import hide_user_info
from magicbyte.operations.sources.port import Source


@dataclass(frozen=True, slots=True)
class Properties:
    """Options for connecting to one end of an operation.

    Attributes:
        registry: Settings of the registry's client, by confluent-kafka's or Java's names.
        kafka: Properties of the Kafka client, by Java's names.
    """

    registry: Mapping[str, str] = field(default_factory=dict)
    kafka: Mapping[str, str] = field(default_factory=dict)


def open_source(name: str, properties: Properties) -> Source:
    """Open a source; a file is recognized by what is in it.

    Args:
        name: `http(s)://..`, `kafka:HOST:PORT[/TOPIC]`, `sqlite:///FILE`, `postgresql://..`, or the path of a
            file or folder.
        properties: How to connect.

    Raises:
        Failure: There is no such source, or its name or a property is wrong.
        Unreachable: A database does not answer.
        Unreadable: A file is of no known form.
    """
    scheme, separator, _ = name.partition(":")
    opener = _OPENERS.get(scheme.partition("+")[0]) if separator else None
    if opener is not None:
        return opener(name, properties)
    path = Path(name)
    if not path.exists():
        schemes = ", ".join(f"{scheme}:" for scheme in _OPENERS)
        raise Failure(f"there is no file {hide_user_info(name)}; other sources begin with {schemes}{meant(scheme)}")
    return open_file(path)


def meant(scheme: str) -> str:
    """The end of an error about a scheme: what it is called here, if it is known by another name; else empty."""
    return "; write postgresql: for postgres:" if scheme == "postgres" else ""


def open_file(path: Path) -> Source:
    """Open a file or folder, recognized by what is in it.

    Raises:
        Unreadable: It is of no known form, or cannot be read.
    """
    from magicbyte.operations.sources.files.forms import open_recognized  # noqa: PLC0415  only what the source needs

    return open_recognized(path)


def _url(name: str, properties: Properties) -> Source:
    from magicbyte.operations.sources.url import UrlSource  # noqa: PLC0415  only what the source needs

    return UrlSource(name, properties.registry)


def _topic(name: str, properties: Properties) -> Source:
    from magicbyte.operations.sources.log_source import TopicSource  # noqa: PLC0415  as above

    return TopicSource(name.partition(":")[2], properties.kafka)


def _sqlite(name: str, _properties: Properties) -> Source:
    from magicbyte.operations.sources.log_source import DatabaseSource  # noqa: PLC0415  as above

    return DatabaseSource(name)


def _postgresql(name: str, properties: Properties) -> Source:
    require("postgresql", user="the source postgresql:")
    return _sqlite(name, properties)


_OPENERS: Mapping[str, Callable[[str, Properties], Source]] = {
    "http": _url,
    "https": _url,
    "kafka": _topic,
    "sqlite": _sqlite,
    "postgresql": _postgresql,
}
