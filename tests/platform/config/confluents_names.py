"""The properties of Confluent's servers, each with the verdict on it."""

from __future__ import annotations

HONOURED, IDLE, REFUSED, UNKNOWN = "honoured", "without effect", "refused", "unknown"
#: Properties of both servers: those of rest-utils, and variables of the images. `NAME=VALUE` if the value decides.
OF_BOTH = {
    HONOURED: """
        listeners=http://localhost:1 host.name idle.timeout.ms max.request.header.size server.connection.limit
        access.control.allow.origin access.control.allow.methods access.control.allow.headers reject.options.request
        response.http.headers.config nosniff.prevention.enable authentication.method authentication.realm
        authentication.roles authentication.skip.paths java.security.auth.login.config super.users
        ssl.keystore.location=/a.p12 ssl.keystore.type=PKCS12 ssl.keystore.password ssl.key.password
        ssl.keystore.reload ssl.keystore.watch.location ssl.truststore.location=/a.pem ssl.truststore.type=PEM
        ssl.truststore.password ssl.client.authentication ssl.client.auth ssl.enabled.protocols ssl.cipher.suites
        ssl.endpoint.identification.algorithm ssl.principal.mapping.rules rest.servlet.initializor.classes
        confluent.schema.registry.auth.mechanism confluent.schema.registry.auth.ssl.principal.mapping.rules
        confluent.rest.auth.ssl.principal.mapping.rules oauthbearer.jwks.endpoint.url oauthbearer.expected.issuer
        oauthbearer.expected.audience oauthbearer.sub.claim.name oauthbearer.groups.claim.name
        oauthbearer.clock.skew.seconds oauthbearer.jwks.endpoint.refresh.ms opts=-Djava.security.auth.login.config=/a
    """,
    IDLE: """
        access.control.skip.options connector.connection.limit csrf.prevention.enable csrf.prevention.token.endpoint
        csrf.prevention.token.expiration.minutes csrf.prevention.token.max.entries compression.enable http2.enabled
        thread.pool.min thread.pool.max request.queue.capacity request.queue.capacity.init request.queue.capacity.growby
        response.mediatype.preferred response.mediatype.default suppress.stack.trace.response request.logger.name
        metric.reporters metrics.jmx.prefix metrics.num.samples metrics.sample.window.ms metrics.tag.map
        dos.filter.enabled=false dos.filter.max.requests.per.sec dos.filter.max.requests.per.connection.per.sec
        dos.filter.delay.ms dos.filter.max.wait.ms dos.filter.throttle.ms dos.filter.tenant.enabled=false
        hsts.header.enable=false proxy.protocol.enabled=false network.traffic.rate.limit.enable=false
        network.traffic.rate.limit.bytes.per.sec sni.check.enabled=false ssl.protocol ssl.provider
        ssl.keymanager.algorithm ssl.trustmanager.algorithm ssl.spire.enabled
        opts=-Xmx1g heap.opts jmx.opts jmx.port log4j.root.loglevel log4j.loggers
    """,
    REFUSED: """
        dos.filter.enabled=true dos.filter.tenant.enabled=true hsts.header.enable=true proxy.protocol.enabled=true
        network.traffic.rate.limit.enable=true sni.check.enabled=true sni.host.check.enabled=true
        listener.protocol.map=a:http resource.extension.class=a.B resource.extension.classes=a.B
        allow.everyone.if.no.acl.found=true confluent.rest.auth.propagate.method=SSL
        ssl.keystore.location=/a.jks ssl.truststore.location=/a.JKS ssl.keystore.type=jks
    """,
    UNKNOWN: "confluent.license schema.registry foo.bar",
}
OF_REGISTRY = {
    HONOURED: """
        host.port inter.instance.protocol schema.registry.inter.instance.protocol schema.registry.group.id
        inter.instance.headers.whitelist kafkastore.bootstrap.servers kafkastore.topic
        kafkastore.topic.replication.factor kafkastore.topic.skip.validation kafkastore.timeout.ms
        kafkastore.topic.request.timeout.ms kafkastore.init.timeout.ms kafkastore.security.protocol
        kafkastore.sasl.mechanism kafkastore.sasl.jaas.config kafkastore.sasl.kerberos.service.name
        kafkastore.ssl.keystore.location=/a.p12 kafkastore.ssl.truststore.location=/a.pem
        kafkastore.ssl.truststore.password kafkastore.ssl.key.password kafkastore.topic.config.retention.ms
        kafkastore.group.id kafkagroup.session.timeout.ms leader.eligibility master.eligibility
        leader.connect.timeout.ms leader.read.timeout.ms schema.compatibility.level avro.compatibility.level
        mode.mutability schema.validate.fields schema.validate.new.schemas schema.reject.empty.subject
        schema.providers.reference.versions.strict schema.cache.size schema.search.default.limit
        schema.search.max.limit subject.search.default.limit subject.search.max.limit
        subject.version.search.default.limit subject.version.search.max.limit context.search.default.limit
        context.search.max.limit size.limit.filter.max.request.body.size request.timeout.ms
    """,
    IDLE: """
        kafkastore.write.max.retries kafkastore.update.handlers kafkastore.zk.session.timeout.ms
        schema.registry.zk.namespace kafkagroup.heartbeat.interval.ms kafkagroup.rebalance.timeout.ms
        leader.election.delay leader.election.sticky inter.instance.listener.name schema.cache.expiry.secs
        schema.canonicalize.on.consume enable.store.health.check size.limit.filter.enabled debug port
        shutdown.graceful.ms schema.providers.json.fetch.remote.schemas metadata.encoder.secret=
        metadata.encoder.old.secret metadata.encoder.topic metadata.encoder.secret.strict.validation
        dek.registry.topic dek.registry.max.keys kafkastore.ssl.protocol kafkastore.sasl.login.class
        kafkastore.metric.reporters
    """,
    REFUSED: """
        kafkastore.connection.url=zk:2181 metadata.encoder.secret=none schema.registry.resource.extension.class=a.B
        kafkastore.ssl.truststore.location=/a.jks kafkastore.ssl.keystore.type=JKS api.endpoints.allowlist=a
    """,
    UNKNOWN: "kafkastore.checkpoint.dir kafkastore.foo schema.cache.sise",
}
OF_PROXY = {
    HONOURED: """
        id bootstrap.servers port advertised.listeners schema.registry.url consumer.threads
        consumer.request.timeout.ms consumer.request.max.bytes consumer.instance.timeout.ms fetch.min.bytes
        simpleconsumer.pool.size.max simpleconsumer.pool.timeout.ms api.v2.enable api.v3.enable
        api.endpoints.allowlist api.endpoints.blocklist api.v3.produce.rate.limit.enabled
        api.v3.produce.rate.limit.max.requests.per.sec api.v3.produce.rate.limit.max.requests.global.per.sec
        api.v3.produce.rate.limit.max.bytes.per.sec api.v3.produce.rate.limit.max.bytes.global.per.sec
        api.v3.produce.batch.maximum.entries api.v3.produce.request.size.limit.max.bytes rate.limit.enable
        rate.limit.permits.per.sec rate.limit.per.cluster.permits.per.sec rate.limit.timeout.ms
        rate.limit.default.cost rate.limit.costs streaming.connection.max.duration.ms
        streaming.connection.max.duration.grace.period.ms null.request.body.always.publishes.empty.record
        confluent.resource.name.authority debug shutdown.graceful.ms client.security.protocol client.sasl.mechanism
        client.sasl.jaas.config client.sasl.kerberos.service.name client.ssl.truststore.location=/a.pem
        producer.linger.ms producer.compression.type consumer.auto.offset.reset admin.client.id
        schema.registry.basic.auth.credentials.source schema.registry.basic.auth.user.info
        schema.registry.ssl.truststore.location=/a.pem schema.registry.key.subject.name.strategy
    """,
    IDLE: """
        dlq.auto.flush preserve.source.fields
        zookeeper.connect consumer.iterator.backoff.ms consumer.iterator.timeout.ms producer.threads client.timeout.ms
        client.init.timeout.ms api.v3.produce.rate.limit.cache.expiry.ms api.v3.produce.response.thread.pool.size
        rate.limit.backend rate.limit.per.cluster.cache.expiry.ms use.custom.request.logging request.timeout.ms
        consumer.max.poll.records producer.max.block.ms client.ssl.protocol producer.key.serializer
        schema.registry.ssl.protocol
    """,
    REFUSED: """
        kafka.rest.resource.extension.class=a.B client.ssl.truststore.location=/a.jks
        schema.registry.resource.extension.class=a.B
    """,
    UNKNOWN: "producer.foo client.foo schema.registry.foo kafkastore.topic",
}


def _rows(server: str, table: dict[str, str]) -> list[tuple[str, str, str]]:
    return [(server, entry, kind) for kind, text in table.items() for entry in text.split()]


PROPERTIES = [
    *_rows("registry", OF_BOTH),
    *(row for row in _rows("rest-proxy", OF_BOTH) if row[1] != "schema.registry"),
    *_rows("registry", OF_REGISTRY),
    *_rows("rest-proxy", OF_PROXY),
]
