"""The consumer groups of a topic: they see replayed records a second time."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, TopicPartition

from magicbyte.dead_letters.letters_topic import LettersTopic

#: The most groups whose offsets are requested; a cluster may have thousands.
_MOST = 500
_NAMED = 5


def warning(
    topic: LettersTopic,
    target: str,
    partitions: list[int],
    failed: str | None,
    is_visible: Callable[[str], bool] = lambda _: True,
) -> str | None:
    """The warning before records are sent to a topic that others read, too; None if nobody else does.

    Args:
        topic: The topic of dead letters.
        target: The topic that records are sent to.
        partitions: Its partitions.
        failed: The application that the records failed in; Connect's groups have `connect-` before its name.
        is_visible: Whether a group may be named.
    """
    try:
        groups = _groups(topic, target, partitions)
    except KafkaException as error:
        return f"others may read {target}, and see these records twice; its groups are not shown: {error.args[0].str()}"
    own = () if failed is None else (failed, f"connect-{failed}")
    others = [group for group in groups if group not in own and is_visible(group)]
    if not others:
        return None
    more = f" and {len(others) - _NAMED} more" if len(others) > _NAMED else ""
    return f"{target} is also read by {', '.join(others[:_NAMED])}{more}: they see these records a second time"


def _groups(topic: LettersTopic, target: str, partitions: list[int]) -> list[str]:
    admin = topic.admin()
    listed: Any = admin.list_consumer_groups(request_timeout=topic.patience).result()
    names = sorted(group.group_id for group in listed.valid)[:_MOST]
    places = [TopicPartition(target, partition) for partition in partitions]
    futures: dict[str, Future[Any]] = {}
    for name in names:
        asked = [ConsumerGroupTopicPartitions(name, places)]
        futures |= admin.list_consumer_group_offsets(asked, request_timeout=topic.patience)
    return [
        name for name, future in futures.items() if any(place.offset >= 0 for place in future.result().topic_partitions)
    ]
