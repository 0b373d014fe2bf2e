"""What a single node for development needs in `server.properties`, however its metadata are kept."""

from __future__ import annotations

from collections.abc import Mapping

from magicbyte.kit.failure import Failure

NODE_ID = "1"


class BrokerFailed(Failure):
    """The local broker cannot start, or did not."""


#: Where a single node for development differs from Kafka's defaults.
SINGLE_NODE = {
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    # The first group and the first transaction wait until these topics' partitions are there: 50 each by default.
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
    "share.coordinator.state.topic.num.partitions": "1",
    # A group of one need not wait 3 s for members to come.
    "group.initial.rebalance.delay.ms": "0",
    # The cleaner takes 128 MB of a 256 MB heap by default; 4 MB still hold 150,000 keys.
    "log.cleaner.dedupe.buffer.size": str(4 * 1024 * 1024),
    # After a crash the controller takes the same broker back only when the session of the one before is over: 9 s.
    "broker.session.timeout.ms": "3000",
    "broker.heartbeat.interval.ms": "500",
    "num.network.threads": "2",
    "num.io.threads": "4",
    "auto.create.topics.enable": "true",
}


def properties_text(properties: Mapping[str, str]) -> str:
    """Return the text of a .properties file."""
    # A backslash begins an escape there.
    return "".join(f"{name}={value}\n" for name, value in properties.items()).replace("\\", "\\\\")
