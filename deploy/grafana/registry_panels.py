"""The panels of the registry's dashboard."""

from __future__ import annotations

from panels import (
    COUNT,
    OF,
    PER_SECOND,
    PROCESS,
    RATIO,
    SECONDS,
    Panel,
    Row,
    gauge,
    quantiles,
    rate,
    requests,
    sum_by,
)

_HITS = sum_by("cache", "magicbyte_registry_cache_hits_total")

REGISTRY = (
    Row(
        "Cluster",
        (
            Panel(
                "Leader",
                COUNT,
                gauge("magicbyte_registry_leader"),
                "One node of a cluster on Kafka; all nodes on a database.",
            ),
            Panel("Ready", COUNT, gauge("magicbyte_registry_ready")),
            Panel("Behind the log", SECONDS, gauge("magicbyte_registry_lag_seconds")),
            Panel("Entries behind", COUNT, gauge("magicbyte_registry_lag")),
            Panel(
                "Changes of the leader",
                COUNT,
                (
                    ("leads", f"sum by (cluster) (increase(magicbyte_registry_leader_changes_total{{{OF}}}[15m]))"),
                    ("fenced", f"sum by (cluster) (increase(magicbyte_registry_fenced_total{{{OF}}}[15m]))"),
                ),
                "In the last 15 minutes.",
            ),
            Panel("Time of takeovers", SECONDS, quantiles("magicbyte_registry_takeover_seconds")),
        ),
    ),
    requests("registry", ',route=~"/(subjects|schemas|config|mode|contexts).*"'),
    Row(
        "Writes",
        (
            Panel(
                "Registrations",
                PER_SECOND,
                (("{{outcome}}", sum_by("outcome", "magicbyte_registry_registrations_total")),),
            ),
            Panel("Time of commits", SECONDS, quantiles("magicbyte_registry_commit_seconds")),
            Panel("Records of a commit", COUNT, quantiles("magicbyte_registry_commit_records")),
            Panel(
                "Forwarded writes",
                PER_SECOND,
                (("{{outcome}}", sum_by("outcome", "magicbyte_registry_forwarded_total")),),
            ),
            Panel("Time of forwarded writes", SECONDS, quantiles("magicbyte_registry_forward_seconds")),
            Panel("Conflicts", PER_SECOND, (("{{instance}}", rate("magicbyte_registry_conflicts_total")),)),
        ),
    ),
    Row(
        "Schemas",
        (
            Panel("Subjects", COUNT, gauge("magicbyte_registry_subjects")),
            Panel("Versions", COUNT, (("{{type}}", f"max by (type) (magicbyte_registry_schemas{{{OF}}})"),)),
            Panel("Highest id", COUNT, (("{{context}}", f"max by (context) (magicbyte_registry_highest_id{{{OF}}})"),)),
            Panel(
                "Comparisons",
                PER_SECOND,
                (("{{verdict}}", sum_by("verdict", "magicbyte_registry_compatibility_total")),),
            ),
            Panel("Time of comparisons", SECONDS, quantiles("magicbyte_registry_compatibility_seconds")),
            Panel("Time of parsing", SECONDS, quantiles("magicbyte_registry_parse_seconds")),
            Panel(
                "Answered by a cache",
                RATIO,
                (
                    (
                        "{{cache}}",
                        f"{_HITS} / ({_HITS} + {sum_by('cache', 'magicbyte_registry_cache_misses_total')})",
                    ),
                ),
            ),
            Panel(
                "Skipped records",
                COUNT,
                (("{{reason}}", f"max by (reason) (magicbyte_registry_records_skipped_total{{{OF}}})"),),
            ),
            Panel(
                "Webhooks",
                COUNT,
                (
                    ("posted a second", f"sum by (cluster) ({rate('magicbyte_webhook_posted_total')})"),
                    ("failed a second", f"sum by (cluster) ({rate('magicbyte_webhook_failed_total')})"),
                    ("waiting", f"sum by (cluster) (magicbyte_webhook_lag{{{OF}}})"),
                ),
            ),
        ),
    ),
    PROCESS,
)
