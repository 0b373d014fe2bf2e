"""The panels of the pipelines' dashboard."""

from __future__ import annotations

from panels import (
    BYTES,
    COUNT,
    OF,
    PER_SECOND,
    SECONDS,
    Panel,
    Row,
    gauge,
    sum_by,
)

_PIPELINE = "{{pipeline}}"
PIPELINES = (
    Row(
        "Progress",
        (
            Panel("Healthy", COUNT, gauge("magicbyte_pipeline_healthy", _PIPELINE)),
            Panel(
                "Since the last batch",
                SECONDS,
                ((_PIPELINE, f"time() - magicbyte_pipeline_last_success_timestamp_seconds{{{OF}}}"),),
                "A source without records runs no batches.",
            ),
            Panel("Time of the last batch", SECONDS, gauge("magicbyte_pipeline_batch_seconds", _PIPELINE)),
            Panel(
                "Records behind", COUNT, ((_PIPELINE, f"sum by (pipeline) (magicbyte_pipeline_lag_records{{{OF}}})"),)
            ),
            Panel("Age of the newest record", SECONDS, gauge("magicbyte_pipeline_lag_seconds", _PIPELINE)),
            Panel(
                "Restarts",
                COUNT,
                ((_PIPELINE, f"increase(magicbyte_pipeline_restarts_total{{{OF}}}[1h])"),),
                "In the last hour.",
            ),
        ),
    ),
    Row(
        "Rows",
        (
            Panel(
                "Rows",
                PER_SECOND,
                (("{{pipeline}} {{outcome}}", sum_by("pipeline, outcome", "magicbyte_pipeline_rows_total")),),
            ),
            Panel(
                "Dead letters",
                PER_SECOND,
                ((_PIPELINE, sum_by("pipeline", "magicbyte_pipeline_rows_total", ',outcome="dead"')),),
            ),
            Panel(
                "Failed checks",
                PER_SECOND,
                (("{{pipeline}} {{check}}", sum_by("pipeline, check", "magicbyte_pipeline_quality_failed_total")),),
            ),
            Panel(
                "Records by schema id",
                PER_SECOND,
                (("{{pipeline}} {{id}}", sum_by("pipeline, id", "magicbyte_pipeline_schema_id_rows_total")),),
            ),
            Panel("Late rows", COUNT, (("{{pipeline}} {{operator}}", f"magicbyte_pipeline_late_rows{{{OF}}}"),)),
            Panel(
                "Rows without a match",
                COUNT,
                (("{{pipeline}} {{step}}", f"magicbyte_pipeline_unmatched_rows{{{OF}}}"),),
            ),
        ),
    ),
    Row(
        "State",
        (
            Panel("Rows kept", COUNT, (("{{pipeline}} {{operator}}", f"magicbyte_pipeline_state_rows{{{OF}}}"),)),
            Panel("Bytes kept", BYTES, (("{{pipeline}} {{operator}}", f"magicbyte_pipeline_state_bytes{{{OF}}}"),)),
            Panel(
                "Behind the newest record",
                SECONDS,
                (
                    (
                        _PIPELINE,
                        f"magicbyte_pipeline_event_time_seconds{{{OF}}} - magicbyte_pipeline_watermark_seconds{{{OF}}}",
                    ),
                ),
                "Time by which the watermark is behind the newest record.",
            ),
        ),
    ),
)
