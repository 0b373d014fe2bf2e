"""The table of v3's routes."""

from __future__ import annotations

from types import ModuleType

from magicbyte.http.routing.access import SIGNED_IN
from magicbyte.http.routing.rows import BodyLimit, Endpoint, Row, Streams
from rest_proxy.exchange.negotiation import unnegotiated
from rest_proxy.v3.contract import contract
from rest_proxy.v3.resources import (
    acls,
    brokers,
    clusters,
    dead_letters,
    health,
    partitions,
    reassignments,
    replicas,
    topics,
)
from rest_proxy.v3.resources.configs import of_brokers, of_cluster, of_topics
from rest_proxy.v3.resources.consumer_groups import groups, lags, reset_offsets
from rest_proxy.v3.resources.records import consume, declared, deleted_records, produce, read
from rest_proxy.v3.route import UNKNOWN_CLUSTER_OF_GROUPS, route

_C = "/clusters/{cluster}"
_BROKER = f"{_C}/brokers/{{broker}}"
_TOPIC = f"{_C}/topics/{{topic}}"
_PARTITION = f"{_TOPIC}/partitions/{{partition}}"
_GROUP = f"{_C}/consumer-groups/{{group}}"
_CONSUMER = f"{_GROUP}/consumers/{{consumer}}"


def _configs(path: str, noun: str, endpoints: str, handlers: ModuleType) -> tuple[Row, ...]:
    """The routes of one kind of configuration."""
    one = f"{path}/{{config}}"
    return (
        route("GET", path, f"listKafka{noun}Configs", f"{endpoints}.list", handlers.list_all),
        route("GET", one, f"getKafka{noun}Config", f"{endpoints}.get", handlers.get),
        route("PUT", one, f"updateKafka{noun}Config", f"{endpoints}.update", handlers.update),
        route("DELETE", one, f"deleteKafka{noun}Config", f"{endpoints}.delete", handlers.reset),
        route("POST", f"{path}:alter", f"updateKafka{noun}ConfigBatch", f"{endpoints}.alter", handlers.alter),
    )


def _of_groups(method: str, path: str, operation_id: str, endpoint: str, handler: Endpoint) -> Row:
    return route(method, path, operation_id, endpoint, handler, unknown_cluster=UNKNOWN_CLUSTER_OF_GROUPS)


V3_ROWS = (
    Row("GET", "/v3/openapi.json", "v3Contract", SIGNED_IN, contract, unnegotiated),
    route("GET", "/clusters", "listKafkaClusters", "clusters.list", clusters.list_all),
    route("GET", _C, "getKafkaCluster", "clusters.get", clusters.get, unknown_cluster="HTTP 404 Not Found"),
    route("GET", f"{_C}/health", "getKafkaClusterHealth", "cluster-health.get", health.get),
    route("GET", f"{_C}/brokers", "listKafkaBrokers", "brokers.list", brokers.list_all),
    route("GET", _BROKER, "getKafkaBroker", "brokers.get", brokers.get),
    route(
        "GET",
        f"{_BROKER}/partition-replicas",
        "searchKafkaReplicasByBroker",
        "replicas.search-by-broker",
        replicas.list_of_broker,
    ),
    *_configs(f"{_BROKER}/configs", "Broker", "broker-configs", of_brokers),
    route(
        "GET", f"{_C}/brokers/-/configs", "listKafkaAllBrokersConfigs", "brokers-configs.list", of_brokers.list_of_all
    ),
    *_configs(f"{_C}/broker-configs", "Cluster", "cluster-configs", of_cluster),
    route("GET", f"{_C}/topics", "listKafkaTopics", "topics.list", topics.list_all),
    route("POST", f"{_C}/topics", "createKafkaTopic", "topics.create", topics.create),
    route("GET", _TOPIC, "getKafkaTopic", "topics.get", topics.get),
    route("PATCH", _TOPIC, "updatePartitionCountKafkaTopic", "topics.partitions", topics.grow),
    route("DELETE", _TOPIC, "deleteKafkaTopic", "topics.delete", topics.delete),
    *_configs(f"{_TOPIC}/configs", "Topic", "topic-configs", of_topics),
    route("GET", f"{_C}/topics/-/configs", "listKafkaAllTopicConfigs", "topics-configs.list", of_topics.list_of_all),
    route(
        "POST",
        f"{_C}/topics/-/configs:alter",
        "updateKafkaTopicConfigMultiBatch",
        "topic-configs.alter-multi",
        of_topics.alter_several,
    ),
    route("GET", f"{_TOPIC}/partitions", "listKafkaPartitions", "partitions.list", partitions.list_all),
    route("GET", _PARTITION, "getKafkaPartition", "partitions.get", partitions.get),
    route("GET", f"{_PARTITION}/offset", "getKafkaPartitionOffset", "partitions.list.offsets", partitions.offset),
    route(
        "GET",
        f"{_TOPIC}/partitions/-/offset",
        "listKafkaPartitionOffsets",
        "partitions.list.offsets",
        partitions.all_offsets,
    ),
    route("POST", f"{_PARTITION}/records:delete", "deleteKafkaRecords", "records.delete", deleted_records.delete),
    route(
        "POST",
        f"{_TOPIC}/partitions/-/records:delete",
        "deleteKafkaRecordsOfPartitions",
        "records.delete",
        deleted_records.delete_of_partitions,
    ),
    route("GET", f"{_PARTITION}/replicas", "listKafkaReplicas", "replicas.list", replicas.list_all),
    route("GET", f"{_PARTITION}/replicas/{{broker}}", "getKafkaReplica", "replicas.get", replicas.get),
    route(
        "GET", f"{_PARTITION}/reassignment", "getKafkaReassignment", "partition-reassignments.get", reassignments.get
    ),
    route(
        "GET",
        f"{_TOPIC}/partitions/-/reassignment",
        "searchKafkaReassignmentsByTopic",
        "partition-reassignments.search-by-topic",
        reassignments.list_of_topic,
    ),
    route(
        "GET",
        f"{_C}/topics/-/partitions/-/reassignment",
        "listKafkaAllTopicReassignments",
        "partition-reassignments.list",
        reassignments.list_all,
    ),
    route("GET", f"{_C}/acls", "listKafkaAcls", "acls.list", acls.search),
    route("POST", f"{_C}/acls", "createKafkaAcls", "acls.create", acls.create),
    route("POST", f"{_C}/acls:batch", "batchCreateKafkaAcls", "acls.batch-create", acls.create_batch),
    route("DELETE", f"{_C}/acls", "deleteKafkaAcls", "acls.delete", acls.delete),
    _of_groups("GET", f"{_C}/consumer-groups", "listKafkaConsumerGroups", "consumer-groups.list", groups.list_all),
    _of_groups("GET", _GROUP, "getKafkaConsumerGroup", "consumer-groups.get", groups.get),
    _of_groups("DELETE", _GROUP, "deleteKafkaConsumerGroup", "consumer-groups.delete", groups.delete),
    _of_groups("GET", f"{_GROUP}/consumers", "listKafkaConsumers", "consumers.list", groups.consumers),
    _of_groups("GET", _CONSUMER, "getKafkaConsumer", "consumers.get", groups.consumer),
    _of_groups(
        "GET",
        f"{_CONSUMER}/assignments",
        "listKafkaConsumerAssignments",
        "consumer-assignments.list",
        groups.assignments,
    ),
    _of_groups(
        "GET",
        f"{_CONSUMER}/assignments/{{topic}}/partitions/{{partition}}",
        "getKafkaConsumerAssignment",
        "consumer-assignments.get",
        groups.assignment,
    ),
    _of_groups("GET", f"{_GROUP}/lags", "listKafkaConsumerLags", "consumer-lags.list", lags.list_all),
    _of_groups(
        "GET", f"{_GROUP}/lags/{{topic}}/partitions/{{partition}}", "getKafkaConsumerLag", "consumer-lags.get", lags.get
    ),
    _of_groups(
        "DELETE",
        f"{_GROUP}/lags/{{topic}}/partitions/{{partition}}",
        "deleteKafkaConsumerGroupOffset",
        "consumer-lags.delete",
        lags.delete,
    ),
    _of_groups(
        "GET",
        f"{_GROUP}/lag-summary",
        "getKafkaConsumerGroupLagSummary",
        "consumer-group-lag-summary.get",
        lags.summary,
    ),
    _of_groups(
        "POST",
        f"{_GROUP}/offsets:alter",
        "alterKafkaConsumerGroupOffsets",
        "consumer-groups.alter-offsets",
        reset_offsets.alter,
    ),
    route(
        "POST",
        f"{_TOPIC}/dead-letters:replay",
        "replayKafkaDeadLetters",
        "dead-letters.replay",
        dead_letters.replay,
        has_deadline=False,
    ),
    # Producing has its own rate limit, and accepts any cluster's id, as in the reference.
    route(
        "POST",
        f"{_TOPIC}/records",
        "produceRecord",
        "produce.produce-to-topic",
        produce.stream,
        declared=declared.produce_stream,
        unknown_cluster=None,
        is_rate_limited=False,
        media_types=produce.json_stream,
        body_limit=BodyLimit.NONE,
        has_deadline=False,
        streams=Streams.BODY,
    ),
    route(
        "POST",
        f"{_TOPIC}/records:batch",
        "produceRecordsBatch",
        "batch-produce.produce-to-topic",
        produce.batch,
        declared=declared.produce_batch,
        unknown_cluster=None,
        is_rate_limited=False,
    ),
    route("GET", f"{_TOPIC}/records", "readRecords", "records.list", read.of_topic, declared=declared.read_topic),
    route(
        "GET",
        f"{_PARTITION}/records",
        "readPartitionRecords",
        "records.list-by-partition",
        read.of_partition,
        declared=declared.read_partition,
    ),
    # The paths that Confluent's IDE plug-ins call: on a local server and on Confluent Cloud.
    route("POST", f"{_TOPIC}/partitions/-/consume", "consumeRecords", "records.consume", consume.consume),
    route(
        "POST",
        f"{_C}/internal/topics/{{topic}}/partitions/-/records:consume_guarantee_progress",
        "consumeRecordsOfCloud",
        "records.consume-cloud",
        consume.consume,
    ),
)
