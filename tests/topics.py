"""How tests make topics on a broker."""

from __future__ import annotations

from confluent_kafka.admin import AdminClient, NewTopic

from tests.waiting import PATIENCE, until


def create_topics(admin: AdminClient, *topics: NewTopic) -> None:
    """Make topics, and wait until the broker knows them: the controller answers a moment before it does.

    Args:
        admin: The admin client.
        topics: The topics.
    """
    for made in admin.create_topics(list(topics)).values():
        made.result(PATIENCE)

    def are_known() -> bool:
        known = admin.list_topics(timeout=PATIENCE).topics
        partitions = [known[new.topic].partitions if new.topic in known else {} for new in topics]
        return all(found and all(part.leader >= 0 for part in found.values()) for found in partitions)

    until(are_known)
