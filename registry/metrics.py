"""The metrics of the registry: what is counted as it happens, and what a collector reads at each scrape."""

from __future__ import annotations

from magicbyte.kit.metrics import COUNTER, GAUGE, LONG_SECONDS, MetricTable

#: The largest number of contexts that `magicbyte_registry_highest_id` has.
MOST_CONTEXTS = 50
#: Why records are skipped; each has a series from the start.
SKIP_REASONS = ("id conflict", "out of bounds", "undecodable")
_POSTS = "with `magicbyte.webhook.urls`"

TABLE = MetricTable()

# The state of the node, which registry/http/metrics.py reads at each scrape
READY = TABLE.declare(GAUGE, "magicbyte_registry_ready", "1 if reads are up to date and writes can reach a leader.")
LEADER = TABLE.declare(GAUGE, "magicbyte_registry_leader", "1 if this node takes writes.")
OFFSET = TABLE.declare(GAUGE, "magicbyte_registry_offset", "The last offset that the view holds.")
END_OFFSET = TABLE.declare(
    GAUGE, "magicbyte_registry_end_offset", "The offset after the log's last record.", only="while the log can be read"
)
LAG = TABLE.declare(
    GAUGE,
    "magicbyte_registry_lag",
    "Entries of the log that the view does not hold yet; 0 on the leader.",
    only="while the log can be read",
)
LAG_SECONDS = TABLE.declare(
    GAUGE,
    "magicbyte_registry_lag_seconds",
    "Time for which the view has lacked an entry of the log, as far as scrapes and health checks have seen it.",
    only="while the log can be read",
)
REPLAY_PROGRESS = TABLE.declare(
    GAUGE,
    "magicbyte_registry_replay_progress",
    "The part of the log that the view holds, from 0 to 1.",
    only="while the log can be read",
)
SUBJECTS = TABLE.declare(GAUGE, "magicbyte_registry_subjects", "Subjects, soft-deleted ones included.")
SCHEMAS = TABLE.declare(GAUGE, "magicbyte_registry_schemas", "Versions that are not deleted.", "type")
DELETED_SCHEMAS = TABLE.declare(GAUGE, "magicbyte_registry_deleted_schemas", "Versions that are soft deleted.")
HIGHEST_ID = TABLE.declare(
    GAUGE,
    "magicbyte_registry_highest_id",
    f"The highest id that was given; the default context is `.`. At most {MOST_CONTEXTS} contexts.",
    "context",
)
NODES = TABLE.declare(GAUGE, "magicbyte_registry_nodes", "Nodes of this cluster that may lead, as this node sees it.")
SKIPPED = TABLE.declare(
    COUNTER,
    "magicbyte_registry_records_skipped_total",
    "Records of the log that were skipped because they could not be read.",
    "reason",
)
FOREIGN = TABLE.declare(
    GAUGE,
    "magicbyte_registry_foreign_records",
    "Records that other programs wrote to the log while this node led.",
)

# Leadership
REPLAY_SECONDS = TABLE.gauge("magicbyte_registry_replay_seconds", "Time that reading the log took at the start.")
LEADER_CHANGES = TABLE.counter(
    "magicbyte_registry_leader_changes_total", "Number of times that this node has become the leader."
)
FENCED = TABLE.counter(
    "magicbyte_registry_fenced_total",
    "Number of times that another node or program has ended this node's leadership or membership.",
)
TAKEOVER_SECONDS = TABLE.histogram(
    "magicbyte_registry_takeover_seconds",
    "Time that this node took to become the leader once it was elected.",
    buckets=LONG_SECONDS,
)

# Writes
COMMIT_SECONDS = TABLE.histogram("magicbyte_registry_commit_seconds", "Time that the log took to accept a batch.")
COMMIT_RECORDS = TABLE.histogram(
    "magicbyte_registry_commit_records",
    "The records of a batch that the log accepted.",
    buckets=(1, 2, 5, 10, 20, 50, 100, 250, 500, 1000),
)
CONFLICTS = TABLE.counter(
    "magicbyte_registry_conflicts_total", "Batches that were decided again because the log had grown meanwhile."
)
FORWARDED = TABLE.counter(
    "magicbyte_registry_forwarded_total",
    "Writes that this node sent to the leader: `answered`, or `failed` because no leader answered.",
    "outcome",
)
FORWARD_SECONDS = TABLE.histogram(
    "magicbyte_registry_forward_seconds", "Duration of a forwarded write, retries included."
)
REGISTRATIONS = TABLE.counter(
    "magicbyte_registry_registrations_total",
    "Requests to register a schema: `new`, `existing`, `incompatible`, `invalid`, or `failed` for all other errors."
    " Forwarded ones count on the leader.",
    "type",
    "outcome",
)

# Schemas
COMPATIBILITY = TABLE.counter(
    "magicbyte_registry_compatibility_total",
    "Comparisons with earlier versions: `compatible` or `incompatible`. A write that is decided again counts again.",
    "verdict",
)
COMPATIBILITY_SECONDS = TABLE.histogram(
    "magicbyte_registry_compatibility_seconds",
    "Duration of such a comparison.",
    "type",
    "level",
    buckets=LONG_SECONDS,
)
PARSE_SECONDS = TABLE.histogram(
    "magicbyte_registry_parse_seconds",
    "Time to parse a schema that was not in the cache; for a long one, the time in a worker process.",
    "type",
    buckets=LONG_SECONDS,
)
CACHE_HITS = TABLE.declare(
    COUNTER,
    "magicbyte_registry_cache_hits_total",
    "Look-ups that a cache answered: of `answers` to requests, and of parsed `schemas`.",
    "cache",
)
CACHE_MISSES = TABLE.declare(
    COUNTER, "magicbyte_registry_cache_misses_total", "Look-ups that a cache did not answer.", "cache"
)

# Webhooks
WEBHOOK_POSTED = TABLE.counter("magicbyte_webhook_posted_total", "Changes that a webhook has accepted.", only=_POSTS)
WEBHOOK_FAILED = TABLE.counter("magicbyte_webhook_failed_total", "Attempts that a webhook did not accept.", only=_POSTS)
WEBHOOK_GIVEN_UP = TABLE.counter(
    "magicbyte_webhook_given_up_total", "Changes that a webhook has not accepted at any attempt.", only=_POSTS
)
WEBHOOK_LAG = TABLE.gauge(
    "magicbyte_webhook_lag", "Changes that wait to be posted, on the node that posts.", only=_POSTS
)

# Confluent's names
CONFLUENT_LEADER = TABLE.declare(GAUGE, "kafka_schema_registry_master_slave_role", "1 if this node takes writes.")
CONFLUENT_NODES = TABLE.declare(GAUGE, "kafka_schema_registry_node_count", "Nodes of this cluster that may lead.")
CONFLUENT_REGISTERED = TABLE.declare(GAUGE, "kafka_schema_registry_registered_count", "Versions that are not deleted.")
CONFLUENT_DELETED = TABLE.declare(GAUGE, "kafka_schema_registry_deleted_count", "Versions that are soft deleted.")
CONFLUENT_SUCCESS = TABLE.declare(GAUGE, "kafka_schema_registry_api_success_count", "Requests that ended in success.")
CONFLUENT_FAILURE = TABLE.declare(GAUGE, "kafka_schema_registry_api_failure_count", "Requests that ended in failure.")

for _outcome in ("answered", "failed"):
    FORWARDED.labels(_outcome)
# Series that exist from the start: Prometheus does not see the first increase of a series that begins above 0.
for _verdict in ("compatible", "incompatible"):
    COMPATIBILITY.labels(_verdict)
