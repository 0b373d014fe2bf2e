"""Properties of the reference that have another name here, have no effect, or are refused."""

from __future__ import annotations

#: A property's name in older servers -> its name now.
OLD_NAMES = {
    "master.eligibility": "leader.eligibility",
    "avro.compatibility.level": "schema.compatibility.level",
    "schema.registry.inter.instance.protocol": "inter.instance.protocol",
    "kafkastore.topic.request.timeout.ms": "kafkastore.timeout.ms",
}
_NO_ZOOKEEPER = "ZooKeeper has no part in it"
_NOT_ENCODED = "metadata is stored as it is sent"
_NO_DEK_REGISTRY = "there is no DEK registry yet"
#: The reference's properties that have no effect here, and why.
WITHOUT_EFFECT = {
    "kafkastore.write.max.retries": "a write that another one overtakes is always decided again",
    "kafkastore.update.handlers": "there are no plug-ins; follow /events or set magicbyte.webhook.urls",
    "kafkagroup.heartbeat.interval.ms": "it follows from kafkagroup.session.timeout.ms",
    "kafkagroup.rebalance.timeout.ms": "it follows from kafkagroup.session.timeout.ms",
    "leader.election.delay": "a node takes over without waiting for others",
    "leader.election.sticky": "the leader always stays leader as long as it lives",
    "inter.instance.listener.name": "listeners have no names; inter.instance.protocol chooses one",
    "schema.cache.expiry.secs": "what is remembered of a schema never changes",
    "schema.canonicalize.on.consume": "texts are answered as they are stored",
    "enable.store.health.check": "/health/ready always asks the store",
    "size.limit.filter.enabled": "the limit always holds",
    "schema.providers.json.fetch.remote.schemas": "remote schemas are never fetched",
    "debug": "see magicbyte.log.level",
    "port": "write it in listeners, such as http://0.0.0.0:8081",
    "shutdown.graceful.ms": "a stop waits 5 s for open requests",
    "kafkastore.zk.session.timeout.ms": _NO_ZOOKEEPER,
    "schema.registry.zk.namespace": _NO_ZOOKEEPER,
    "metadata.encoder.old.secret": _NOT_ENCODED,
    "metadata.encoder.secret.strict.validation": _NOT_ENCODED,
    "metadata.encoder.topic": _NOT_ENCODED,
    "dek.registry.topic": _NO_DEK_REGISTRY,
    "dek.registry.max.keys": _NO_DEK_REGISTRY,
}
#: This property promises that secrets are encrypted in the log. A warning would come too late, so it is refused.
ENCODER_SECRET = "metadata.encoder.secret"  # noqa: S105  a property's name
#: Properties that ask for something that is not kept -> the reason, with a remedy.
NOT_KEPT = {
    "kafkastore.connection.url": "ZooKeeper names no brokers and elects no leader here; set"
    " kafkastore.bootstrap.servers",
    ENCODER_SECRET: "sensitive metadata can't be encrypted here; without this property it is stored as it is sent",
}
