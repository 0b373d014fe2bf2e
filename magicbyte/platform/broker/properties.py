"""Settings of `server.properties` for a single development node."""

from __future__ import annotations

from collections.abc import Mapping

from magicbyte.kit.failure import Failure

NODE_ID = "1"


class BrokerFailed(Failure):
    """The local broker cannot start, or failed to start."""


#: Settings of a single development node that differ from Kafka's defaults.
SINGLE_NODE = {
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    # The first group and transaction wait until the partitions of these topics exist: 50 each by default.
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
    "share.coordinator.state.topic.num.partitions": "1",
    # A group with one member need not wait 3 s for more members.
    "group.initial.rebalance.delay.ms": "0",
    # By default the cleaner takes 128 MB of the 256 MB heap; 4 MB hold 150,000 keys.
    "log.cleaner.dedupe.buffer.size": str(4 * 1024 * 1024),
    # After a crash, the broker can register again only when its old session has expired: after 9 s by default.
    "broker.session.timeout.ms": "3000",
    "broker.heartbeat.interval.ms": "500",
    "num.network.threads": "2",
    "num.io.threads": "4",
    "auto.create.topics.enable": "true",
}


def properties_text(properties: Mapping[str, str]) -> str:
    """Return the text of a .properties file."""
    # A backslash begins an escape in this format.
    return "".join(f"{name}={value}\n" for name, value in properties.items()).replace("\\", "\\\\")
