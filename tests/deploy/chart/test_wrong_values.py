"""Wrong values are refused before anything is installed, with a text that names them."""

from __future__ import annotations

import pytest

from tests.deploy.chart.rendering import refusal

pytestmark = pytest.mark.chart

#: What `--set` takes -> the text of values.schema.json about it.
REFUSED_BY_THE_SCHEMA = {
    "registry.storage.type=memory": "at '/registry/storage/type': value must be one of 'kafka', 'postgresql', 'sqlite'",
    "registry.replica=3": "at '/registry': additional properties 'replica' not allowed",
    "registry.replicas=0": "at '/registry/replicas': minimum: got 0, want 1",
    "registry.replicas=three": "at '/registry/replicas': got string, want integer",
    "registry.service.port=80": "at '/registry/service/port': minimum: got 80, want 1,024",
    "registry.service.type=Headless": "at '/registry/service/type': value must be one of 'ClusterIP'",
    "registry.config.kafkastore\\.topik=x,registry.config.listener=y": "additional properties 'listener' not allowed",
    "registry.config.mode\\.mutability=maybe": "at '/registry/config/mode.mutability'",
    "registry.config.schema\\.compatibility\\.level=SIDEWAYS": "at '/registry/config/schema.compatibility.level'",
    "restProxy.config.producer\\.acks=2": "at '/restProxy/config/producer.acks'",
    "restProxy.config.mode\\.mutability=true": "additional properties 'mode.mutability' not allowed",
    "registry.secrets.no\\.such=x": "at '/registry/secrets': additional properties 'no.such' not allowed",
    "registry.secrets.ssl\\.key\\.password=geheim": "'/registry/secrets/ssl.key.password': got string, want object",
    "registry.secrets.ssl\\.key\\.password.name=x": "missing property 'key'",
    "registry.files.magicbyte\\.users\\.file.key=x": "at '/registry/files/magicbyte.users.file'",
    "registry.readinessPath=/ready": "at '/registry/readinessPath': value must be one of",
    "registry.preStopSleepSeconds=0": "at '/registry/preStopSleepSeconds': minimum: got 0, want 1",
    "registry.storage.sqlite.size=big": "at '/registry/storage/sqlite/size': 'big' does not match pattern",
    "kafka.bootstrapServers=kafka": "at '/kafka/bootstrapServers': 'kafka' does not match pattern",
    "kafka.securityProtocol=TLS": "at '/kafka/securityProtocol': value must be one of",
    "image.digest=latest": "at '/image/digest': 'latest' does not match pattern",
    "image.pullPolicy=Sometimes": "at '/image/pullPolicy': value must be one of",
    "strimzi.apiVersion=v2": "at '/strimzi/apiVersion': value must be one of 'v1', 'v1beta2'",
    "strimzi.users.authentication=plain": "at '/strimzi/users/authentication': value must be one of",
    "monitoring.serviceMonitor.interval=often": "at '/monitoring/serviceMonitor/interval'",
    # As `config:` with nothing but comments in a file.
    "registry.config=null": "at '/registry': missing property 'config'",
    "registry=null": "at '': missing property 'registry'",
    "registry.storage.sqlite=null": "at '/registry/storage': missing property 'sqlite'",
    "rest-proxy.enabled=true": "additional properties 'rest-proxy' not allowed",
}

#: Values that do not fit together -> the text of the chart.
REFUSED_BY_THE_CHART = {
    "registry.enabled=false": "registry.enabled, restProxy.enabled: enable one of them",
    "kafka.bootstrapServers=": "kafka.bootstrapServers: say where Kafka is, as HOST:PORT, or give strimzi.cluster",
    "registry.config.listeners=http://:1": "registry.config: listeners is set by the chart, from its other values",
    "registry.config.magicbyte\\.node\\.id=a": "registry.config: magicbyte.node.id is set by the chart",
    "registry.config.ssl\\.key\\.password=a": "registry.config: ssl.key.password is a secret, and a ConfigMap does not"
    " protect it; put its Secret into registry.secrets",
    "registry.config.kafkastore\\.sasl\\.jaas\\.config=a": "kafkastore.sasl.jaas.config is a secret",
    "registry.config.ssl\\.client\\.authentication=REQUIRED": "registry.config: the kubelet has no client certificate",
    "restProxy.enabled=true,restProxy.config.ssl\\.client\\.auth=true": "restProxy.config: the kubelet has no client",
    "registry.config.magicbyte\\.workers=2": "registry.config: a pod has one process",
    "registry.config.authentication\\.method=BASIC": "registry.tls.enabled: with authentication.method,",
    "registry.config.authentication\\.method=BASIC,registry.tls.enabled=true,registry.tls.secretName=s": (
        "registry.secrets: with authentication.method, the pods need one magicbyte.inter.instance.secret"
    ),
    "restProxy.enabled=true,restProxy.config.authentication\\.method=BASIC,"
    "restProxy.config.magicbyte\\.allow\\.plaintext\\.credentials=true": "restProxy.secrets: with authentication",
    "registry.tls.enabled=true": "registry.tls.secretName: with TLS, give the Secret of the certificate",
    "registry.storage.type=postgresql": "registry.storage.postgresql: give urlSecret",
    "registry.storage.type=postgresql,registry.storage.postgresql.url=postgresql://u@h/d,"
    "registry.storage.postgresql.urlSecret.name=s": "registry.storage.postgresql: give url or urlSecret, not both",
    "registry.enabled=false,restProxy.enabled=true": "restProxy.schemaRegistryUrl: say where the registry is",
    "registry.ingress.enabled=true": "registry.ingress.hosts: name at least one host",
    "registry.httpRoute.enabled=true": "registry.httpRoute.parentRefs: name the Gateway",
    "strimzi.topic.enabled=true": "strimzi.cluster: name the Kafka cluster",
    "strimzi.cluster=c,strimzi.users.enabled=true,restProxy.enabled=true": "strimzi.users.restProxyAcls: say what",
    "strimzi.cluster=c,strimzi.topic.enabled=true,registry.storage.type=sqlite": "strimzi.topic.enabled: only a",
    "kafka.securityProtocol=SASL_SSL": "kafka.saslMechanism: with SASL, say which mechanism",
    "registry.config.super\\.users=User:a,registry.files.super\\.users.key=k,registry.files.super\\.users.secret=s": (
        "registry.config: super.users is also in secrets or files"
    ),
}


@pytest.mark.parametrize("settings", REFUSED_BY_THE_SCHEMA)
def test_the_schema_refuses(settings: str) -> None:
    text = refusal("minimal", settings.split(","))

    assert "values don't meet the specifications of the schema" in text
    assert REFUSED_BY_THE_SCHEMA[settings] in text


@pytest.mark.parametrize("settings", REFUSED_BY_THE_CHART)
def test_the_chart_refuses(settings: str) -> None:
    assert REFUSED_BY_THE_CHART[settings] in refusal("minimal", settings.split(","))


@pytest.mark.parametrize("replicas", [2, 3])
def test_sqlite_forces_one_replica(replicas: int) -> None:
    text = refusal("sqlite", [f"registry.replicas={replicas}"])

    assert "at '/registry/replicas': value must be 1" in text
