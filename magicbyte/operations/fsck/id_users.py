"""The topics whose records have a schema id, for ids that stand for two schemas."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from magicbyte.kit.failure import Failure
from magicbyte.kit.plural import plural
from magicbyte.operations.failures import Unreachable
from magicbyte.topic_ids.scan import Scanner, Selection
from serdes.console.kafka import consumer_config, take_patience
from serdes.console.outcome import NOT_DELIVERED, Ended


def users_of_ids(servers: str, kafka: Mapping[str, str], topics: Sequence[str], ids: Collection[int]) -> dict[int, str]:
    """Count the records of topics that have some schema ids, in keys and in values.

    Args:
        servers: The bootstrap servers.
        kafka: Properties of the Kafka client by Java's names.
        topics: The topics, which are read as a whole.
        ids: The ids.

    Returns:
        Id -> topics and counts in words; ids without records are missing.

    Raises:
        Failure: There is no such topic.
        Unreachable: Kafka does not answer, or refuses the client.
    """
    properties = dict(kafka)
    patience = take_patience(properties)
    scanner = Scanner(consumer_config(servers, properties, group="magicbyte-fsck", committing=False), patience)
    users: dict[int, list[str]] = {}
    try:
        for topic in topics:
            for is_key in (False, True):
                scan = scanner.open(topic, Selection(is_key=is_key))
                scanner.run(scan)
                for schema_id, usage in scan.tally.ids.items():
                    if schema_id in ids:
                        part = "keys" if is_key else "values"
                        users.setdefault(schema_id, []).append(
                            f"{plural(usage.records, 'record')} in {part} of {topic}"
                        )
    except Ended as error:
        kind = Failure if error.code == NOT_DELIVERED and "does not exist" in str(error) else Unreachable
        raise kind(f"{servers}: {error}") from None
    finally:
        scanner.close()
    return {schema_id: ", ".join(parts) for schema_id, parts in users.items()}
