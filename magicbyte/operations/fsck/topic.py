"""The checks of a topic: its settings, aborted transactions, and records that compaction should have removed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from magicbyte.operations.fsck.evidence import Evidence, Topic
from registry.repair.finding import Finding, Severity
from registry.state import records
from registry.state.records import Key, Undecodable

#: Schemas of this size have to fit, as in other registries' topics.
LEAST_MESSAGE_BYTES = 8 * 1024 * 1024
#: From these counts on, what compaction has not removed makes a start slow.
MOST_SUPERSEDED = 10_000
MOST_DELETIONS = 1_000
_LEAST_DIRTY = 0.9
_MANY_REPLICAS = 3


@dataclass(frozen=True, slots=True)
class TopicRule:
    """A rule for a setting.

    Attributes:
        setting: The setting's name.
        wanted: Its right value; empty if kafka-configs cannot set it.
        is_wrong: Tells whether the topic breaks the rule.
        fault: What is wrong.
        severity: How bad it is.
        remedy: What to do if kafka-configs cannot set it.
        is_policy: Whether `--repair TOPIC` sets it.
    """

    setting: str
    wanted: str
    is_wrong: Callable[[Topic], bool]
    fault: str
    severity: Severity
    remedy: str = ""
    is_policy: bool = False


def _number(topic: Topic, setting: str, default: int) -> int:
    text = topic.configs.get(setting, "")
    return int(text) if text.lstrip("-").isdigit() else default


def _deletes(topic: Topic) -> bool:
    return "delete" in topic.configs.get("cleanup.policy", "compact")


def _replicas(topic: Topic) -> int:
    return _number(topic, "replication.factor", 1)


def _insync(topic: Topic) -> int:
    return _number(topic, "min.insync.replicas", 1)


TOPIC_RULES: tuple[TopicRule, ...] = (
    TopicRule(
        "cleanup.policy",
        "compact",
        lambda topic: topic.configs.get("cleanup.policy", "compact") != "compact",
        "Kafka deletes schemas when they are old",
        Severity.ERROR,
        is_policy=True,
    ),
    TopicRule(
        "retention.ms",
        "-1",
        lambda topic: _deletes(topic) and _number(topic, "retention.ms", -1) != -1,
        "schemas are deleted after this time",
        Severity.ERROR,
        is_policy=True,
    ),
    TopicRule(
        "retention.bytes",
        "-1",
        lambda topic: _deletes(topic) and _number(topic, "retention.bytes", -1) != -1,
        "schemas are deleted beyond this size",
        Severity.ERROR,
        is_policy=True,
    ),
    TopicRule(
        "unclean.leader.election.enable",
        "false",
        lambda topic: topic.configs.get("unclean.leader.election.enable") == "true",
        "a replica that lacks schemas may become the leader, and they are lost",
        Severity.ERROR,
        is_policy=True,
    ),
    TopicRule(
        "partitions",
        "",
        lambda topic: _number(topic, "partitions", 1) != 1,
        "the order of records, which decides about ids, is kept only within a partition",
        Severity.ERROR,
        "copy the records into a topic with one partition: magicbyte backup, then restore into a new topic",
    ),
    TopicRule(
        "replication.factor",
        "",
        lambda topic: _replicas(topic) == 1 and topic.brokers is not None and topic.brokers > 1,
        "the schemas are lost with one broker",
        Severity.WARNING,
        "give the topic 3 replicas with kafka-reassign-partitions",
    ),
    TopicRule(
        "replication.factor",
        "",
        lambda topic: _replicas(topic) == 1 and topic.brokers == 1,
        "the schemas are lost with the only broker",
        Severity.NOTE,
        "take backups, and give a cluster that matters 3 brokers",
    ),
    TopicRule(
        "replication.factor",
        "",
        lambda topic: topic.brokers is None and topic.configs.get("replication.factor") == "1",
        "the schemas are lost with one broker",
        Severity.NOTE,
        "give the topic 3 replicas with kafka-reassign-partitions, or a new topic by restore --replication-factor 3",
    ),
    TopicRule(
        "min.insync.replicas",
        "2",
        # A file may lack the settings that were never set.
        lambda topic: _replicas(topic) >= _MANY_REPLICAS and topic.configs.get("min.insync.replicas") == "1",
        "a write is confirmed when one replica has it, and is lost with that one",
        Severity.WARNING,
        is_policy=True,
    ),
    TopicRule(
        "min.insync.replicas",
        "1",
        lambda topic: "replication.factor" in topic.configs and _insync(topic) > _replicas(topic),
        "the topic has fewer replicas, so every write is refused",
        Severity.ERROR,
        is_policy=True,
    ),
    TopicRule(
        "max.message.bytes",
        str(LEAST_MESSAGE_BYTES),
        lambda topic: _number(topic, "max.message.bytes", LEAST_MESSAGE_BYTES) < LEAST_MESSAGE_BYTES,
        "larger schemas are refused, also those of a backup of another registry",
        Severity.NOTE,
        is_policy=True,
    ),
)


def find_topic_faults(evidence: Evidence) -> Iterator[Finding]:
    """Find settings of the topic by which schemas are lost, or refused."""
    topic = evidence.topic
    for rule in TOPIC_RULES:
        if topic is not None and rule.is_wrong(topic):
            value = topic.configs.get(rule.setting, "")
            yield Finding(
                code="TOPIC",
                sentence=f"{topic.name} has {rule.setting}={value}: {rule.fault}",
                severity=rule.severity,
                remedy=rule.remedy or configs_line(topic, {rule.setting: rule.wanted}),
            )


def right_configs(topic: Topic) -> dict[str, str]:
    """The settings that `--repair TOPIC` changes, and their right values."""
    return {rule.setting: rule.wanted for rule in TOPIC_RULES if rule.is_policy and rule.is_wrong(topic)}


def configs_line(topic: Topic, configs: Mapping[str, str]) -> str:
    """The command line of kafka-configs that sets configs of a topic."""
    pairs = ",".join(f"{name}={value}" for name, value in configs.items())
    if not topic.servers:
        return f"set {pairs} with kafka-configs if the topic is still so; restore --topic-config sets it on a new one"
    return (
        f"kafka-configs --bootstrap-server {topic.servers} --alter --entity-type topics "
        f"--entity-name {topic.name} --add-config {pairs}"
    )


#: Aborted records with these types mislead nobody.
_HARMLESS = frozenset({records.SETTLED, records.POSTED, records.NOOP})


def find_aborted_tail(evidence: Evidence) -> Iterator[Finding]:
    """Find keys whose last record is of an aborted transaction; readers that ignore transactions believe it."""
    last: dict[bytes | None, int] = {record.key: record.offset for record in evidence.aborted}
    for raw, offset in last.items():
        key = _key_of(raw)
        if key is None or key.keytype in _HARMLESS or evidence.facts is None:
            continue
        form = evidence.facts.forms.get(key, {}).get(raw or b"")
        if form is not None and form.offset > offset:
            continue
        yield Finding(
            code="ABORTED_TAIL",
            sentence=f"the last record of {_shown(key)} is of an aborted transaction; readers that ignore transactions "
            "believe it",
            offsets=(offset,),
            keys=(raw,),
            subject=key.subject,
            version=key.version,
            key=key,
        )


def _shown(key: Key) -> str:
    parts = (key.keytype, key.subject, None if key.version is None else str(key.version))
    return " ".join(part for part in parts if part is not None)


def _key_of(raw: bytes | None) -> Key | None:
    try:
        return records.decode_key(raw)
    except Undecodable:
        return None


def find_garbage(evidence: Evidence) -> Iterator[Finding]:
    """Find what compaction should have removed, if there is so much of it that a start takes longer."""
    facts = evidence.facts
    if facts is None:
        return
    current = sum(form.has_value for forms in facts.forms.values() for form in forms.values())
    superseded = facts.records - current
    if superseded >= MOST_SUPERSEDED and superseded >= _LEAST_DIRTY * facts.records:
        rewritten = max(facts.forms.items(), key=lambda item: sum(form.records for form in item[1].values()))
        count = sum(form.records for form in rewritten[1].values())
        yield Finding(
            code="GARBAGE",
            sentence=f"{superseded:,} of {facts.records:,} records are superseded or tombstones; "
            f"{_shown(rewritten[0])} alone was written {count:,} times",
        )
    subjects = set(evidence.view.subjects())
    deletions = [name for name in facts.deletions if name not in subjects]
    if len(deletions) >= MOST_DELETIONS:
        yield Finding(
            code="GARBAGE",
            sentence=f"{len(deletions):,} records DELETE_SUBJECT are of subjects that have no version any more; "
            "compaction keeps them for ever",
        )
