"""What a single KRaft node needs in its two files: `server.properties` and `meta.properties`."""

from __future__ import annotations

import base64
import uuid
from collections.abc import Mapping
from pathlib import Path

from magicbyte.failure import Failure

NODE_ID = "1"


class BrokerFailed(Failure):
    """The local broker cannot start, or did not."""


_REMEDY = "it is not a local broker's, or it is damaged; name another with --data-dir, or remove it"

#: The bytes of a record batch up to and with its magic, whose offset is the last.
_BATCH_HEADER = 17

#: Where a single node for development differs from Kafka's defaults.
_SINGLE_NODE = {
    "process.roles": "broker,controller",
    "node.id": NODE_ID,
    "controller.listener.names": "CONTROLLER",
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


def server_properties(*, logs: Path, host: str, port: int, controller_port: int, extra: Mapping[str, str]) -> str:
    """Return the text of `server.properties`; `extra` goes over what stands here."""
    controller = f"127.0.0.1:{controller_port}"
    properties = _SINGLE_NODE | {
        "listeners": f"PLAINTEXT://{host}:{port},CONTROLLER://{controller}",
        "advertised.listeners": f"PLAINTEXT://{host}:{port}",
        "controller.quorum.voters": f"{NODE_ID}@{controller}",
        "log.dirs": str(logs),
    }
    # A backslash begins an escape in a .properties file.
    lines = (f"{name}={value}\n" for name, value in (properties | dict(extra)).items())
    return "".join(lines).replace("\\", "\\\\")


def prepare_logs(logs: Path) -> None:
    """Make the folder of the broker's logs with the `meta.properties` that formats it, or check that it has a good one.

    Raises:
        BrokerFailed: the folder cannot be made or holds something else than this broker's data.
    """
    meta = logs / "meta.properties"
    try:
        logs.mkdir(parents=True, exist_ok=True)
        if not any(logs.iterdir()):
            meta.write_text(f"version=1\ncluster.id={_new_cluster_id()}\nnode.id={NODE_ID}\n", encoding="ascii")
            return
        text = meta.read_bytes().decode("latin-1")
    except OSError as error:
        if logs.is_dir() and not meta.exists():
            raise BrokerFailed(f"the data folder {logs} holds files but no meta.properties: {_REMEDY}") from None
        raise BrokerFailed(f"the data folder {logs} cannot be used: {error.strerror}") from error
    lines = (line.partition("=") for line in text.splitlines() if not line.startswith("#"))
    values = {name.strip(): value.strip() for name, _, value in lines}
    if values.get("version") != "1" or not values.get("cluster.id") or values.get("node.id") != NODE_ID:
        raise BrokerFailed(f"the data folder {logs} has a damaged or foreign meta.properties: {_REMEDY}")
    for segment in (logs / "__cluster_metadata-0").glob("*.log"):
        if not _begins_with_a_batch(segment):
            raise BrokerFailed(f"{segment} is damaged, and with it all topics: name another --data-dir, or remove it")


def _begins_with_a_batch(segment: Path) -> bool:
    """Whether a log segment begins with a record batch of its first offset and magic 2, or is empty.

    Kafka takes a metadata log that does not for an empty one, and then drops every topic that it does not know.
    """
    with segment.open("rb") as stream:
        header = stream.read(_BATCH_HEADER)
    first_offset, magic = int.from_bytes(header[:8]), header[16:]
    return not header or (magic == b"\x02" and first_offset == int(segment.stem))


def _new_cluster_id() -> str:
    """Return 16 random bytes in the URL-safe base64 that Kafka writes cluster ids in."""
    return base64.urlsafe_b64encode(uuid.uuid4().bytes).rstrip(b"=").decode()
