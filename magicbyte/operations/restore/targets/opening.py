"""Opening a target by its name: a URL, `kafka:`, `sqlite:` or `postgresql:`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from magicbyte.kit.extras import require
from magicbyte.kit.failure import Failure
from magicbyte.kit.secret import hide_user_info
from magicbyte.operations.restore.targets.port import Target
from magicbyte.operations.restore.targets.topic import NewTopic, Topic
from magicbyte.operations.sources.opening import Properties, meant

#: Seconds that a registry may take for a request with thousands of lines.
_IMPORT_SECONDS = "600"


def open_target(name: str, properties: Properties, new_topic: NewTopic) -> Target:
    """Open a target.

    Args:
        name: `http(s)://..`, `kafka:HOST:PORT[/TOPIC]`, `sqlite:///FILE` or `postgresql://..`.
        properties: How to connect.
        new_topic: How a topic that is missing is created.

    Raises:
        Failure: The name or a property is wrong.
        Unreachable: A registry does not answer, or refuses the client.
    """
    scheme, separator, _ = name.partition(":")
    opener = _OPENERS.get(scheme.partition("+")[0]) if separator else None
    if opener is None:
        schemes = ", ".join(f"{scheme}:" for scheme in _OPENERS)
        raise Failure(f"{hide_user_info(name)} is no target; targets begin with {schemes}{meant(scheme)}")
    return opener(name, properties, new_topic)


def _url(name: str, properties: Properties, _new: NewTopic) -> Target:
    from magicbyte.operations.registry_end import RegistryEnd  # noqa: PLC0415  only what the target needs
    from magicbyte.operations.restore.targets.other_registry import OtherRegistry  # noqa: PLC0415  as above
    from magicbyte.operations.restore.targets.our_registry import OurRegistry, is_ours  # noqa: PLC0415  as above
    from magicbyte.operations.sources.url import UrlSource  # noqa: PLC0415  as above

    settings = {"timeout": _IMPORT_SECONDS, **properties.registry}
    end = RegistryEnd(name, settings)
    make = OurRegistry if is_ours(end) else OtherRegistry
    return make(end, UrlSource(name, settings))


def _topic(name: str, properties: Properties, new: NewTopic) -> Target:
    return Topic(name.partition(":")[2], properties.kafka, new)


def _sqlite(name: str, _properties: Properties, _new: NewTopic) -> Target:
    from magicbyte.operations.restore.targets.database import Database  # noqa: PLC0415  topics need no SQLAlchemy

    return Database(name)


def _postgresql(name: str, properties: Properties, new: NewTopic) -> Target:
    require("postgresql", user="the target postgresql:")
    return _sqlite(name, properties, new)


_OPENERS: Mapping[str, Callable[[str, Properties, NewTopic], Target]] = {
    "http": _url,
    "https": _url,
    "kafka": _topic,
    "sqlite": _sqlite,
    "postgresql": _postgresql,
}
