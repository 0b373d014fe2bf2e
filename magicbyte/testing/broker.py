"""A real broker for tests."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from magicbyte.kit.processes import process
from magicbyte.platform.broker import LocalBroker


@contextmanager
def temporary_broker(
    port: int = 0, properties: Mapping[str, str] | None = None, *, version: str | None = None
) -> Iterator[LocalBroker]:
    """Run a broker in a temporary folder, in memory if the system allows it; stop and delete both afterwards.

    Args:
        port: the port for clients; 0 picks a free one.
        properties: settings of `server.properties` that override the defaults.
        version: the version of Kafka, one of `magicbyte.platform.jars.KAFKA_VERSIONS`; by default that of
            MAGICBYTE_KAFKA_VERSION, or else that of `magicbyte up`.
    """
    folder = process.temporary_folder("magicbyte-broker-")
    try:
        broker = LocalBroker(folder, port, properties=properties, version=version)
        # A loaded machine may need more than a minute.
        broker.start(timeout=180)
        try:
            yield broker
        finally:
            # Its data is deleted anyway, and a clean stop may take 20 s.
            broker.kill()
            broker.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
