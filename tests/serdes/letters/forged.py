"""Headers of letters that their writer made up: anybody who may write to a topic of dead letters can do so."""

from __future__ import annotations

from serdes.letters.headers import CONNECT, OWN, Header


def forged(topic: bytes, partition: bytes = b"0", offset: bytes = b"0", **own: bytes) -> list[Header]:
    """Headers in Connect's form that name a place, and headers of our own.

    Args:
        topic: The topic that the record claims to be from.
        partition: Its partition.
        offset: Its offset.
        own: By name without the prefix the other headers; `_` stands for a dot.
    """
    place = [
        (f"{CONNECT}{name}", value)
        for name, value in zip(("topic", "partition", "offset"), (topic, partition, offset), strict=True)
    ]
    return [*place, *((OWN + name.replace("_", "."), value) for name, value in own.items())]
