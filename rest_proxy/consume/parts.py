"""The parts that routes consume with."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from rest_proxy.consume.consumers.instances import Instances
from rest_proxy.consume.stateless.reads import Reads
from rest_proxy.formats.schemas import Schemas


@dataclass(frozen=True, slots=True)
class Consuming:
    """The parts for consumer instances.

    Attributes:
        instances: The open instances.
        schemas: The source of decoders.
        blocking: Threads for calls that wait for brokers, and for long answers.
    """

    instances: Instances
    schemas: Schemas
    blocking: ThreadPoolExecutor


@dataclass(frozen=True, slots=True)
class Reading:
    """The parts for reads without a consumer.

    Attributes:
        reads: Connections to the brokers.
        schemas: The source of decoders.
        blocking: Threads for long answers.
    """

    reads: Reads
    schemas: Schemas
    blocking: ThreadPoolExecutor
