"""KRaft: a controller in the broker's process keeps its metadata; for Kafka 3 and later."""

from __future__ import annotations

import base64
import uuid
from collections.abc import Sequence
from pathlib import Path

from magicbyte.platform.broker.ports import free_port
from magicbyte.platform.broker.properties import NODE_ID, BrokerFailed

_REMEDY = "it is not a local broker's, or it is damaged; name another with --data-dir, or remove it"

#: The length of a record batch's header up to and including its magic byte.
_BATCH_HEADER = 17


class KRaft:
    """A broker's metadata, kept by the broker itself as its controller."""

    #: The broker logs this text once it answers clients.
    started = b"Kafka Server started"

    def __init__(self, data_dir: Path) -> None:
        """Take the broker's folder; nothing is written yet."""
        self._logs = data_dir / "kafka"

    def prepare(self) -> None:
        """Make the folder of the logs with the `meta.properties` that formats it, or check an existing one.

        Raises:
            BrokerFailed: the folder cannot be made, or holds other data than this broker's.
        """
        logs, meta = self._logs, self._logs / "meta.properties"
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
            if not _begins_with_batch(segment):
                raise BrokerFailed(
                    f"{segment} is damaged, and with it all topics: name another --data-dir, or remove it"
                )

    def start(self, java_command: Sequence[str]) -> None:
        """Do nothing: the broker is its own controller."""

    def properties(self, address: str) -> dict[str, str]:
        """Return the settings for a broker that listens on `address`."""
        controller = f"127.0.0.1:{free_port()}"
        return {
            "process.roles": "broker,controller",
            "node.id": NODE_ID,
            "controller.listener.names": "CONTROLLER",
            "controller.quorum.voters": f"{NODE_ID}@{controller}",
            "listeners": f"PLAINTEXT://{address},CONTROLLER://{controller}",
        }

    def stop(self) -> None:
        """Do nothing."""


def _begins_with_batch(segment: Path) -> bool:
    """Tell whether a log segment is empty or begins with a record batch of its first offset and magic 2.

    Kafka treats a metadata log with any other beginning as empty, and then deletes all topics.
    """
    with segment.open("rb") as stream:
        header = stream.read(_BATCH_HEADER)
    first_offset, magic = int.from_bytes(header[:8]), header[16:]
    return not header or (magic == b"\x02" and first_offset == int(segment.stem))


def _new_cluster_id() -> str:
    """Return 16 random bytes in URL-safe base64, as Kafka writes cluster ids."""
    return base64.urlsafe_b64encode(uuid.uuid4().bytes).rstrip(b"=").decode()
