"""Models of configurations."""

from __future__ import annotations

from typing import Literal

from typing_extensions import TypedDict

from rest_proxy.v3.models.frame import Collection, Error, Item


class Synonym(TypedDict):
    """A value that the property would have, or has, from another source."""

    name: str
    value: str | None
    source: str


class Config(Item):
    """A property."""

    name: str
    value: str | None
    is_default: bool
    is_read_only: bool
    is_sensitive: bool
    source: str
    synonyms: list[Synonym]


class KafkaTopicConfig(Config):
    """A property of a topic."""

    kind: Literal["KafkaTopicConfig"]
    topic_name: str


class KafkaTopicConfigList(Collection):
    """Properties of topics."""

    kind: Literal["KafkaTopicConfigList"]
    data: list[KafkaTopicConfig]


class KafkaBrokerConfig(Config):
    """A property of a broker."""

    kind: Literal["KafkaBrokerConfig"]
    broker_id: int


class KafkaBrokerConfigList(Collection):
    """Properties of brokers."""

    kind: Literal["KafkaBrokerConfigList"]
    data: list[KafkaBrokerConfig]


class KafkaClusterConfig(Config):
    """A property of all brokers."""

    kind: Literal["KafkaClusterConfig"]
    config_type: Literal["BROKER"]


class KafkaClusterConfigList(Collection):
    """Properties of all brokers."""

    kind: Literal["KafkaClusterConfigList"]
    data: list[KafkaClusterConfig]


class TopicFailure(Error):
    """The error of a topic that stays as it was."""

    topic_name: str


class TopicFailures(TypedDict):
    """The topics that stay as they were."""

    failures: list[TopicFailure]
