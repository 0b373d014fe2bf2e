"""Settings of the metrics."""

from __future__ import annotations

from pydantic import Field

from magicbyte.kit.settings.server import ServerSettings


class MetricsSettings(ServerSettings):
    """The settings of the metrics."""

    title = "Metrics"

    librdkafka_metrics: bool = Field(
        False,
        alias="magicbyte.metrics.librdkafka",
        description="Whether Kafka clients report [statistics](metrics.md#kafka-clients) every 10 seconds.",
    )
