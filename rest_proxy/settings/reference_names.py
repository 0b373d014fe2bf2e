"""Properties of kafka-rest that have no effect here."""

from __future__ import annotations

_NO_THREADS = "the proxy has its own threads; see consumer.threads"
_NO_LONGER = "the reference ignores it, too"
#: Property -> the reason.
WITHOUT_EFFECT = {
    "zookeeper.connect": "ZooKeeper has no part in it; bootstrap.servers names the brokers",
    "client.timeout.ms": "produce.timeout.ms and the timeouts of the Kafka client hold",
    "client.init.timeout.ms": "clients connect in the background",
    "consumer.iterator.backoff.ms": "a read waits for records, and does not poll",
    "consumer.iterator.timeout.ms": _NO_LONGER,
    "producer.threads": _NO_LONGER,
    "request.timeout.ms": "each kind of request has its own, such as produce.timeout.ms",
    "use.custom.request.logging": "there is no request log of Jetty's",
    "api.v3.produce.rate.limit.cache.expiry.ms": "a proxy serves one cluster, whose limit is always kept",
    "api.v3.produce.response.thread.pool.size": _NO_THREADS,
    "rate.limit.backend": "there is one implementation of rate limits",
    "rate.limit.per.cluster.cache.expiry.ms": "a proxy serves one cluster, whose limit is always kept",
}
