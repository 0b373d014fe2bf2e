"""The JSON of v3's answers as types, from which openapi/rest-proxy-v3.yaml is made; that of requests is elsewhere."""

from typing import Any

from rest_proxy.v3.models.acls import AclFailures, DeletedAcls, KafkaAcl, KafkaAclList
from rest_proxy.v3.models.cluster import KafkaBroker, KafkaBrokerList, KafkaCluster, KafkaClusterList
from rest_proxy.v3.models.configs import (
    KafkaBrokerConfig,
    KafkaBrokerConfigList,
    KafkaClusterConfig,
    KafkaClusterConfigList,
    KafkaTopicConfig,
    KafkaTopicConfigList,
    TopicFailures,
)
from rest_proxy.v3.models.frame import Error
from rest_proxy.v3.models.groups import (
    KafkaConsumer,
    KafkaConsumerAssignment,
    KafkaConsumerAssignmentList,
    KafkaConsumerGroup,
    KafkaConsumerGroupLagSummary,
    KafkaConsumerGroupList,
    KafkaConsumerLag,
    KafkaConsumerLagList,
    KafkaConsumerList,
)
from rest_proxy.v3.models.health import KafkaClusterHealth
from rest_proxy.v3.models.letters import KafkaDeadLetterReplay
from rest_proxy.v3.models.produced import ProduceBatch, ProduceBatchReport, ProduceRecord, RecordReport
from rest_proxy.v3.models.read import ConsumeAnswer, KafkaRecordList
from rest_proxy.v3.models.topics import (
    DeletedRecords,
    KafkaPartition,
    KafkaPartitionList,
    KafkaPartitionWithOffsets,
    KafkaPartitionWithOffsetsList,
    KafkaReassignment,
    KafkaReassignmentList,
    KafkaReplica,
    KafkaReplicaList,
    KafkaTopic,
    KafkaTopicList,
)

__all__ = [
    "AclFailures",
    "ConsumeAnswer",
    "DeletedAcls",
    "DeletedRecords",
    "Error",
    "KafkaAcl",
    "KafkaAclList",
    "KafkaBroker",
    "KafkaBrokerConfig",
    "KafkaBrokerConfigList",
    "KafkaBrokerList",
    "KafkaCluster",
    "KafkaClusterConfig",
    "KafkaClusterConfigList",
    "KafkaClusterHealth",
    "KafkaClusterList",
    "KafkaConsumer",
    "KafkaConsumerAssignment",
    "KafkaConsumerAssignmentList",
    "KafkaConsumerGroup",
    "KafkaConsumerGroupLagSummary",
    "KafkaConsumerGroupList",
    "KafkaConsumerLag",
    "KafkaConsumerLagList",
    "KafkaConsumerList",
    "KafkaDeadLetterReplay",
    "KafkaPartition",
    "KafkaPartitionList",
    "KafkaPartitionWithOffsets",
    "KafkaPartitionWithOffsetsList",
    "KafkaReassignment",
    "KafkaReassignmentList",
    "KafkaRecordList",
    "KafkaReplica",
    "KafkaReplicaList",
    "KafkaTopic",
    "KafkaTopicConfig",
    "KafkaTopicConfigList",
    "KafkaTopicList",
    "ProduceBatch",
    "ProduceBatchReport",
    "ProduceRecord",
    "RecordReport",
    "TopicFailures",
]

AnyObject = dict[str, Any]
