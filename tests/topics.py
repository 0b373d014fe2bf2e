"""Functions with which tests make topics on a broker."""

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
    until_known(admin, *(new.topic for new in topics))


def until_known(admin: AdminClient, *names: str) -> None:
    """Wait until the broker knows the leaders of topics that were made."""

    def are_known() -> bool:
        known = admin.list_topics(timeout=PATIENCE).topics
        partitions = [known[name].partitions if name in known else {} for name in names]
        return all(found and all(part.leader >= 0 for part in found.values()) for found in partitions)

    until(are_known)


def delete_topic(admin: AdminClient, name: str) -> None:
    """Delete a topic, and wait until the broker has forgotten it."""
    admin.delete_topics([name])[name].result(PATIENCE)
    until(lambda: name not in admin.list_topics(timeout=PATIENCE).topics)
