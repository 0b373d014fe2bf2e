"""The parts that routes produce with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from magicbyte.kit.sharing.deadlines import Deadlines
from magicbyte.kit.sharing.loop_turns import LoopTurns
from rest_proxy.admin.cluster import Cluster
from rest_proxy.formats.schemas import Schemas
from rest_proxy.produce.encoding_threads import EncodingThreads
from rest_proxy.produce.open_streams import OpenStreams
from rest_proxy.produce.producers import Producers
from rest_proxy.produce.rate_limit import ProduceRates
from rest_proxy.settings import RestProxySettings

if TYPE_CHECKING:
    from magicbyte.http.routing.guard import Guard


@dataclass(frozen=True, slots=True)
class Producing:
    """The parts that all versions produce with.

    Attributes:
        settings: The settings, for requests that name no acks, timeout or options.
        producers: Send records.
        schemas: The source of writers.
        cluster: Tells which topics and partitions exist.
        threads: Encode data whose encoding may take long.
        deadlines: End the time that answers wait for the brokers.
    """

    settings: RestProxySettings
    producers: Producers
    schemas: Schemas
    cluster: Cluster
    threads: EncodingThreads
    deadlines: Deadlines


@dataclass(frozen=True, slots=True)
class Streaming:
    """The further parts of v3, whose records are produced one by one.

    Attributes:
        rates: The limits on the rate of all streams and batches; None for none.
        turns: Let other requests have their turns while a stream is parsed and encoded.
        open: The open streams.
        guard: Tells whether a client's credentials are still good; None if nobody has to sign in.
    """

    rates: ProduceRates | None
    turns: LoopTurns
    open: OpenStreams
    guard: Guard | None
