"""The panels of the REST proxy's dashboard."""

from __future__ import annotations

from panels import (
    BYTES,
    BYTES_PER_SECOND,
    COUNT,
    PER_SECOND,
    PROCESS,
    SECONDS,
    Panel,
    Row,
    gauge,
    quantiles,
    rate,
    requests,
    sum_by,
)

REST_PROXY = (
    requests("rest", ""),
    Row(
        "Records",
        (
            Panel(
                "Produced",
                PER_SECOND,
                (("{{outcome}}", sum_by("outcome", "magicbyte_rest_records_total", ',direction="produce"')),),
            ),
            Panel(
                "Consumed",
                PER_SECOND,
                (("{{format}}", sum_by("format", "magicbyte_rest_records_total", ',direction="consume"')),),
            ),
            Panel("Bytes", BYTES_PER_SECOND, (("{{direction}}", sum_by("direction", "magicbyte_rest_bytes_total")),)),
            Panel("Time to the brokers' answer", SECONDS, quantiles("magicbyte_rest_produce_ack_seconds")),
            Panel(
                "Buffer",
                BYTES,
                (
                    *gauge("magicbyte_rest_buffered_bytes"),
                    *gauge("magicbyte_rest_buffer_limit_bytes", "limit of {{instance}}"),
                ),
            ),
            Panel(
                "Unknown outcomes and undecodable records",
                PER_SECOND,
                (
                    ("unknown", f"sum by (cluster) ({rate('magicbyte_rest_unknown_outcomes_total')})"),
                    ("undecodable", f"sum by (cluster) ({rate('magicbyte_rest_deserialization_errors_total')})"),
                ),
            ),
        ),
    ),
    Row(
        "Consumers and limits",
        (
            Panel(
                "Consumer instances",
                COUNT,
                (
                    *gauge("magicbyte_rest_consumer_instances"),
                    *gauge("magicbyte_rest_consumer_instances_limit", "limit of {{instance}}"),
                ),
            ),
            Panel(
                "Expired and rebalanced",
                PER_SECOND,
                (
                    ("expired", f"sum by (cluster) ({rate('magicbyte_rest_consumer_expired_total')})"),
                    ("rebalanced", f"sum by (cluster) ({rate('magicbyte_rest_consumer_rebalances_total')})"),
                ),
            ),
            Panel(
                "Passed on to other nodes",
                PER_SECOND,
                (("{{outcome}}", sum_by("outcome", "magicbyte_rest_forwarded_total")),),
            ),
            Panel(
                "Refused by a rate limit",
                PER_SECOND,
                (("{{limit}}", sum_by("limit", "magicbyte_rest_rate_limited_total")),),
            ),
            Panel("Open streams", COUNT, gauge("magicbyte_rest_record_streams")),
        ),
    ),
    PROCESS,
)
