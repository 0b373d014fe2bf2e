"""Cases of each alert: series, one value a minute, with which it fires or stays silent."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Case:
    """A case.

    Attributes:
        alert: The alert.
        series: Series -> values, one a minute, as promtool writes them.
        labels: The labels of the alert that fires, without its severity; None if it stays silent.
        summary: Its summary.
        at: When it is asked.
    """

    alert: str
    series: dict[str, str]
    labels: dict[str, str] | None = None
    summary: str = ""
    at: str = "20m"


@dataclass(frozen=True, slots=True)
class _Of:
    """The cases of one alert."""

    alert: str
    fires: dict[str, str]
    labels: dict[str, str]
    summary: str
    silent: tuple[dict[str, str], ...]
    at: str = "20m"


_NODE = {"cluster": "c", "instance": "a:1", "job": "magicbyte-registry"}
_PROXY = {"cluster": "c", "instance": "p:1", "job": "magicbyte-rest-proxy"}
_C = {"cluster": "c"}


def _node(name: str, values: str, more: str = "", instance: str = "a:1") -> dict[str, str]:
    return {f'{name}{{cluster="c",instance="{instance}",job="magicbyte-registry"{more}}}': values}


def _proxy(name: str, values: str, more: str = "") -> dict[str, str]:
    return {f'{name}{{cluster="c",instance="p:1",job="magicbyte-rest-proxy"{more}}}': values}


def _pipeline(name: str, values: str, more: str = "") -> dict[str, str]:
    return {f'{name}{{cluster="c",instance="l:1",job="magicbyte-pipelines",pipeline="flights"{more}}}': values}


def _backup(values: str) -> dict[str, str]:
    name = "magicbyte_backup_last_success_timestamp_seconds"
    return {f'{name}{{cluster="c",instance="k:1",job="magicbyte-backups",file="r.zst"}}': values}


def _mirror(values: str) -> dict[str, str]:
    return {'magicbyte_mirror_lag_seconds{cluster="c",instance="m:1",job="magicbyte-mirrors"}': values}


def _histogram(method: str, route: str, fast: str, all_of_them: str) -> dict[str, str]:
    """Requests below 0.05 s, and all, which are below 5 s."""
    labels = f',app="registry",method="{method}",route="{route}"'
    name = "magicbyte_http_request_seconds_bucket"
    return {
        **_node(name, fast, f'{labels},le="0.05"'),
        **_node(name, all_of_them, f'{labels},le="5.0"'),
        **_node(name, all_of_them, f'{labels},le="+Inf"'),
    }


_LEADER, _LEADERS = "magicbyte_registry_leader", "magicbyte_registry_nodes"
_OFFSET, _END, _LAG = "magicbyte_registry_offset", "magicbyte_registry_end_offset", "magicbyte_registry_lag"
_REQUESTS, _EXPIRY = "magicbyte_http_requests_total", "magicbyte_tls_certificate_expiry_timestamp_seconds"
_POST_OK, _POST_BAD = ',app="registry",method="POST",status="200"', ',app="registry",method="POST",status="500"'
_BUFFERED, _BUFFER = "magicbyte_rest_buffered_bytes", "magicbyte_rest_buffer_limit_bytes"
_OPEN, _MAY_BE_OPEN = "magicbyte_rest_consumer_instances", "magicbyte_rest_consumer_instances_limit"
_ROWS = "magicbyte_pipeline_rows_total"
_REGISTRATIONS = "magicbyte_registry_registrations_total"

_ALL = (
    _Of(
        "MagicbyteNoLeader",
        _node(_LEADER, "0x30") | _node(_LEADER, "0x30", instance="b:1"),
        _C,
        "No node of the registry c takes writes.",
        (
            _node(_LEADER, "0x30") | _node(_LEADER, "1x30", instance="b:1"),
            # The leader is killed, and another node leads after half a minute.
            _node(_LEADER, "1x18 stale") | _node(_LEADER, "0x19 1x10", instance="b:1"),
        ),
    ),
    _Of(
        "MagicbyteTwoLeaders",
        _node(_LEADER, "1x30") | _node(_LEADER, "1x30", instance="b:1") | _node(_LEADERS, "2x30"),
        _C,
        "2 nodes of the registry c take writes.",
        (
            _node(_LEADER, "1x30") | _node(_LEADER, "0x30", instance="b:1") | _node(_LEADERS, "2x30"),
            # Two nodes on a database.
            _node(_LEADER, "1x30") | _node(_LEADER, "1x30", instance="b:1") | _node(_LEADERS, "1x30"),
        ),
    ),
    _Of(
        "MagicbyteNodeNotReady",
        _node("magicbyte_registry_ready", "1x5 0x30"),
        _NODE,
        "The registry a:1 is not ready.",
        (_node("magicbyte_registry_ready", "1x16 0x30"), _node("magicbyte_registry_ready", "1x30")),
    ),
    _Of(
        "MagicbyteReaderLag",
        _node("magicbyte_registry_lag_seconds", "0x10 90x20"),
        _NODE,
        "The registry a:1 is 1m 30s behind its log.",
        (_node("magicbyte_registry_lag_seconds", "20x30"),),
    ),
    _Of(
        "MagicbyteReaderDead",
        _node(_OFFSET, "7x30") | _node(_END, "8+1x30") | _node(_LAG, "1+1x30"),
        _NODE,
        "The registry a:1 reads nothing, while its log grows.",
        (
            _node(_OFFSET, "7+1x30") | _node(_END, "9+1x30") | _node(_LAG, "1x30"),
            _node(_OFFSET, "7x30") | _node(_END, "8x30") | _node(_LAG, "0x30"),
            # Only markers of transactions come: there is nothing to read.
            _node(_OFFSET, "7x30") | _node(_END, "8+1x30") | _node(_LAG, "0x30"),
        ),
    ),
    _Of(
        "MagicbyteLeaderFlapping",
        _node("magicbyte_registry_leader_changes_total", "0+1x30"),
        _C,
        "The registry c has changed its leader 15 times in 15 minutes.",
        (_node("magicbyte_registry_leader_changes_total", "0x8 1x5 2x20"),),
    ),
    _Of(
        "MagicbyteFenced",
        _node("magicbyte_registry_fenced_total", "0x15 1x20"),
        _NODE,
        "The registry a:1 was fenced by another node or program.",
        (_node("magicbyte_registry_fenced_total", "1x30"), _node("magicbyte_registry_fenced_total", "0x4 1x30")),
    ),
    _Of(
        "MagicbyteSlowReads",
        _histogram("GET", "/schemas/ids/{id}", "0x40", "0+60x40"),
        _C,
        "One read in a hundred of the registry c takes over 4.95s.",
        (
            _histogram("GET", "/schemas/ids/{id}", "0+60x40", "0+60x40"),
            # Long polls are slow by their nature.
            _histogram("GET", "/events", "0x40", "0+60x40"),
        ),
    ),
    _Of(
        "MagicbyteSlowWrites",
        _histogram("POST", "/subjects/{subject}/versions", "0x40", "0+60x40"),
        _C,
        "One write in a hundred of the registry c takes over 4.95s.",
        (
            _histogram("POST", "/subjects/{subject}/versions", "0+60x40", "0+60x40"),
            _histogram("POST", "/import", "0x40", "0+60x40"),
        ),
    ),
    _Of(
        "MagicbyteRecordsSkipped",
        _node("magicbyte_registry_records_skipped_total", "0x10 1x30", ',reason="undecodable"'),
        {**_NODE, "reason": "undecodable"},
        "The registry a:1 skips records of its log (undecodable).",
        (_node("magicbyte_registry_records_skipped_total", "3x30", ',reason="undecodable"'),),
    ),
    _Of(
        "MagicbyteIncompatibleBurst",
        _node(_REGISTRATIONS, "0+5x30", ',type="AVRO",outcome="incompatible"'),
        _C,
        "The registry c has refused 50 incompatible schemas in 10 minutes.",
        (
            _node(_REGISTRATIONS, "0+1x30", ',type="AVRO",outcome="incompatible"'),
            _node(_REGISTRATIONS, "0+90x30", ',type="AVRO",outcome="new"'),
        ),
    ),
    _Of(
        "MagicbyteWebhookGivenUp",
        _node("magicbyte_webhook_given_up_total", "0x15 1x20"),
        _NODE,
        "A webhook of the registry a:1 has missed changes.",
        (_node("magicbyte_webhook_given_up_total", "0x30"),),
    ),
    _Of(
        "MagicbyteDown",
        _node("up", "1x10 0x30"),
        _NODE,
        "magicbyte-registry at a:1 does not answer.",
        (_node("up", "1x30"), _node("up", "1x19 0x30"), {'up{job="other",instance="x:1"}': "0x30"}),
    ),
    _Of(
        "MagicbyteWriteErrors",
        _node(_REQUESTS, "0+98x40", _POST_OK) | _node(_REQUESTS, "0+2x40", _POST_BAD),
        {**_C, "app": "registry"},
        "2% of the writes to registry in c fail.",
        (
            _node(_REQUESTS, "0+100x40", _POST_OK) | _node(_REQUESTS, "0+0.5x40", _POST_BAD),
            _node(_REQUESTS, "0+1x40", _POST_OK.replace("200", "409")),
            _node(_REQUESTS, "0+9x40", _POST_BAD.replace("POST", "GET")) | _node(_REQUESTS, "0+1x40", _POST_OK),
        ),
    ),
    _Of(
        "MagicbyteCertificateExpires",
        _node(_EXPIRY, f"{20 * 60 + 86400}x30"),
        _NODE,
        "The certificate of a:1 expires in 1d 0h 0m 0s.",
        (_node(_EXPIRY, f"{15 * 86400}x30"),),
    ),
    _Of(
        "MagicbyteMemoryNearLimit",
        _node("process_resident_memory_bytes", "95x30") | _node("magicbyte_memory_limit_bytes", "100x30"),
        _NODE,
        "a:1 uses 95% of its memory.",
        (_node("process_resident_memory_bytes", "85x30") | _node("magicbyte_memory_limit_bytes", "100x30"),),
    ),
    _Of(
        "MagicbyteProxyBufferNearLimit",
        _proxy(_BUFFERED, "90x30") | _proxy(_BUFFER, "100x30"),
        _PROXY,
        "Undelivered records fill 90% of the buffer of p:1.",
        (
            _proxy(_BUFFERED, "70x30") | _proxy(_BUFFER, "100x30"),
            # A burst.
            _proxy(_BUFFERED, "0x18 90x1 0x20") | _proxy(_BUFFER, "100x40"),
        ),
    ),
    _Of(
        "MagicbyteUnknownOutcomes",
        _proxy("magicbyte_rest_unknown_outcomes_total", "0+3x30"),
        _PROXY,
        "Clients of p:1 do not know whether 30 records arrived.",
        (_proxy("magicbyte_rest_unknown_outcomes_total", "7x30"),),
    ),
    _Of(
        "MagicbyteConsumerInstancesNearLimit",
        _proxy(_OPEN, "90x30") | _proxy(_MAY_BE_OPEN, "100x30"),
        _PROXY,
        "p:1 has 90% of the consumer instances that it may have.",
        (_proxy(_OPEN, "80x30") | _proxy(_MAY_BE_OPEN, "100x30"),),
    ),
    _Of(
        "MagicbytePipelineStalled",
        _pipeline("magicbyte_pipeline_healthy", "1x5 0x30"),
        {"cluster": "c", "instance": "l:1", "job": "magicbyte-pipelines", "pipeline": "flights"},
        "The pipeline flights makes no progress.",
        (_pipeline("magicbyte_pipeline_healthy", "1x30"),),
    ),
    _Of(
        "MagicbyteDeadLettersRising",
        _pipeline(_ROWS, "0+2x30", ',outcome="dead"'),
        {"cluster": "c", "pipeline": "flights"},
        "The pipeline flights has written 30 dead letters in 15 minutes.",
        (_pipeline(_ROWS, "5x30", ',outcome="dead"'), _pipeline(_ROWS, "0+2x30", ',outcome="written"')),
    ),
    _Of(
        "MagicbyteBackupStale",
        _backup("-93060x30"),
        {"cluster": "c", "instance": "k:1", "job": "magicbyte-backups", "file": "r.zst"},
        "The newest backup in r.zst is 1d 2h 11m 0s old.",
        (_backup("-93000x30"), _backup("-99999x15 60x15")),
    ),
    _Of(
        "MagicbyteMirrorLag",
        _mirror("0x5 60+60x30"),
        {"cluster": "c", "instance": "m:1", "job": "magicbyte-mirrors"},
        "The standby of m:1 has been behind for 15m 0s.",
        (_mirror("300x30"), _mirror("0x30")),
    ),
)

CASES = [
    case
    for of in _ALL
    for case in (
        Case(of.alert, of.fires, of.labels, of.summary, of.at),
        *(Case(of.alert, series, at=of.at) for series in of.silent),
    )
]
