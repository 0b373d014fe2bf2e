"""Properties of rest-utils and variables of Confluent's images that have no effect here, or that are refused."""

from __future__ import annotations

from collections.abc import Mapping

_NO_JVM = "there is no JVM here"
_NO_LOG4J = "there is no Log4j here; magicbyte.log.level is the registry's level, and debug the proxy's"
_NO_JMX = "there is no JMX here; /metrics has the metrics"
_NO_POOL = "requests run on one event loop, not in a pool of threads"
_WITH_DOS_FILTER = "it belongs to dos.filter.enabled"
_WITH_TRAFFIC_LIMIT = "it belongs to network.traffic.rate.limit.enable"
_NO_TOKENS = "writes of foreign pages are always refused, without tokens"
_NO_PLUG_INS = (
    "plug-ins are not run here; for those that guard the server, set authentication.method and magicbyte.acl.store"
)

#: Properties that have no effect -> the reason.
WITHOUT_EFFECT: Mapping[str, str] = {
    "access.control.skip.options": "preflight requests need no sign-in, as no others do",
    "connector.connection.limit": "server.connection.limit is for all listeners together",
    "csrf.prevention.enable": _NO_TOKENS,
    "csrf.prevention.token.endpoint": _NO_TOKENS,
    "csrf.prevention.token.expiration.minutes": _NO_TOKENS,
    "csrf.prevention.token.max.entries": _NO_TOKENS,
    "compression.enable": "answers are not compressed; a proxy in front can do it",
    "http2.enabled": "HTTP/1.1 is spoken; a proxy in front can speak HTTP/2",
    "thread.pool.min": _NO_POOL,
    "thread.pool.max": _NO_POOL,
    "request.queue.capacity": _NO_POOL,
    "request.queue.capacity.init": _NO_POOL,
    "request.queue.capacity.growby": _NO_POOL,
    "response.mediatype.preferred": "an answer has the media type that Accept asks for",
    "response.mediatype.default": "an answer has the media type that Accept asks for",
    "suppress.stack.trace.response": "answers never have stack traces",
    "request.logger.name": "loggers have fixed names",
    "websocket.path.prefix": "there are no websockets",
    "metric.reporters": _NO_JMX,
    "metrics.jmx.prefix": _NO_JMX,
    "metrics.num.samples": _NO_JMX,
    "metrics.sample.window.ms": _NO_JMX,
    "metrics.tag.map": _NO_JMX,
    **dict.fromkeys(
        (
            "dos.filter.delay.ms",
            "dos.filter.insert.headers",
            "dos.filter.ip.whitelist",
            "dos.filter.managed.attr",
            "dos.filter.max.idle.tracker.ms",
            "dos.filter.max.requests.ms",
            "dos.filter.max.requests.per.connection.per.sec",
            "dos.filter.max.requests.per.sec",
            "dos.filter.max.wait.ms",
            "dos.filter.throttle.ms",
            "dos.filter.throttled.requests",
        ),
        _WITH_DOS_FILTER,
    ),
    "network.traffic.rate.limit.backend": _WITH_TRAFFIC_LIMIT,
    "network.traffic.rate.limit.bytes.per.sec": _WITH_TRAFFIC_LIMIT,
    # Variables of Confluent's images, such as SCHEMA_REGISTRY_HEAP_OPTS.
    "opts": f"{_NO_JVM}; java.security.auth.login.config is a property",
    **dict.fromkeys(("heap.opts", "jvm.performance.opts", "gc.log.opts"), _NO_JVM),
    **dict.fromkeys(("jmx.opts", "jmx.port", "jmx.hostname"), _NO_JMX),
    **dict.fromkeys(("log4j.opts", "log4j.root.loglevel", "log4j.loggers", "log4j.tools.root.loglevel"), _NO_LOG4J),
}
#: Properties that ask for something that is not kept -> the reason, with a remedy.
NOT_KEPT: Mapping[str, str] = {
    "dos.filter.enabled": "there is no DoS filter; limit requests in a proxy in front, or connections by"
    " server.connection.limit",
    "dos.filter.tenant.enabled": "there are no tenants; limit requests in a proxy in front",
    "hsts.header.enable": "write it as response.http.headers.config=set Strict-Transport-Security: max-age=31536000",
    "listener.protocol.map": "listeners have no names; write http:// or https:// before each address",
    "network.traffic.rate.limit.enable": "traffic is not limited; limit it in a proxy in front",
    "proxy.protocol.enabled": "the PROXY protocol is not understood; let the proxy send X-Forwarded-For, and name it"
    " in magicbyte.trusted.proxies",
    "sni.check.enabled": "SNI is not checked; list the names that Host may have in magicbyte.allowed.hosts",
    "sni.host.check.enabled": "SNI is not checked; list the names that Host may have in magicbyte.allowed.hosts",
    "resource.extension.class": _NO_PLUG_INS,
    "resource.extension.classes": _NO_PLUG_INS,
    "kafka.rest.resource.extension.class": _NO_PLUG_INS,
    "schema.registry.resource.extension.class": _NO_PLUG_INS,
    "websocket.servlet.initializor.classes": _NO_PLUG_INS,
}
