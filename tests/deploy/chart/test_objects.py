"""The contents of the chart's objects, beyond being valid."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.deploy.chart.rendering import ROOT, Rendered, notes, render

pytestmark = pytest.mark.chart

REGISTRY, PROXY = "r-magicbyte-registry", "r-magicbyte-rest-proxy"

#: DESIGN.md, "A node needs these Kafka ACLs"; without CREATE, because the KafkaTopic makes the topic.
REGISTRY_ACLS = [
    ("topic", "_schemas", ["Read", "Write", "Describe", "DescribeConfigs"]),
    ("group", "magicbyte-schema-registry", ["Read", "Describe"]),
    ("group", "magicbyte-reader", ["Read", "Describe"]),
    ("group", "schema-registry", ["Describe"]),
    ("transactionalId", "magicbyte-schema-registry", ["Write", "Describe"]),
    ("cluster", None, ["IdempotentWrite"]),
]


def probe(path: str, scheme: str, period: int, timeout: int, failures: int) -> dict[str, Any]:
    return {
        "httpGet": {"path": path, "port": scheme.lower(), "scheme": scheme},
        "periodSeconds": period,
        "timeoutSeconds": timeout,
        "failureThreshold": failures,
    }


def acls(user: Any) -> list[tuple[str, str | None, list[str]]]:
    rules = user["spec"]["authorization"]["acls"]
    assert all(rule["resource"].get("patternType", "literal") == "literal" for rule in rules)
    return [(rule["resource"]["type"], rule["resource"].get("name"), rule["operations"]) for rule in rules]


@pytest.mark.parametrize(
    ("values", "name", "scheme", "startup", "ready"),
    [
        ("minimal", REGISTRY, "HTTP", "/health/startup", "/health/ready"),
        ("secured", REGISTRY, "HTTPS", "/health/startup", "/health/ready"),
        ("secured", PROXY, "HTTPS", "/health/live", "/health/ready"),
        ("everything", "events-registry", "HTTPS", "/health/startup", "/health/live"),
        ("everything", "events-rest-proxy", "HTTP", "/health/live", "/health/ready"),
    ],
)
def test_probes(
    rendered: Mapping[str, Rendered], values: str, name: str, scheme: str, startup: str, ready: str
) -> None:
    (container,) = rendered[values].pod(name)["containers"]

    # Ten minutes, two seconds apart.
    assert container["startupProbe"] == probe(startup, scheme, 2, 2, 300)
    assert container["livenessProbe"] == probe("/health/live", scheme, 10, 5, 3)
    assert container["readinessProbe"] == probe(ready, scheme, 5, 5, 2)


@pytest.mark.parametrize(("values", "replicas"), [("minimal", 3), ("postgresql", 4), ("sqlite", 1), ("everything", 12)])
def test_replicas_follow_from_the_storage(rendered: Mapping[str, Rendered], values: str, replicas: int) -> None:
    name = "events-registry" if values == "everything" else REGISTRY

    assert rendered[values].one("StatefulSet", name)["spec"]["replicas"] == replicas


def test_postgresql_has_two_pods_by_default() -> None:
    storage = ["registry.storage.type=postgresql", "registry.storage.postgresql.url=postgresql://u@h/d"]

    assert render(None, storage).one("StatefulSet", REGISTRY)["spec"]["replicas"] == 2


def test_how_pods_start_and_stop(rendered: Mapping[str, Rendered]) -> None:
    stateful = rendered["strimzi"].one("StatefulSet", REGISTRY)["spec"]
    pod = stateful["template"]["spec"]
    (container,) = pod["containers"]

    assert (stateful["podManagementPolicy"], stateful["updateStrategy"]) == ("Parallel", {"type": "RollingUpdate"})
    assert stateful["serviceName"] == f"{REGISTRY}-headless"
    assert container["args"] == ["registry", "--config", "/etc/magicbyte/config/registry.properties"]
    assert "command" not in container
    assert container["lifecycle"] == {"preStop": {"sleep": {"seconds": 5}}}
    assert pod["terminationGracePeriodSeconds"] == 60
    assert (pod["enableServiceLinks"], pod["automountServiceAccountToken"]) == (False, False)
    assert rendered["strimzi"].all("ServiceAccount")[0]["automountServiceAccountToken"] is False


@pytest.mark.parametrize("values", ["minimal", "sqlite", "everything", "secured"])
def test_pods_keep_to_the_restricted_standard(rendered: Mapping[str, Rendered], values: str) -> None:
    for stateful in rendered[values].all("StatefulSet"):
        pod = stateful["spec"]["template"]["spec"]
        (container,) = pod["containers"]

        assert pod["securityContext"] == {
            "runAsNonRoot": True,
            "runAsUser": 65532,
            "runAsGroup": 65532,
            "fsGroup": 65532,
            "fsGroupChangePolicy": "OnRootMismatch",
            "seccompProfile": {"type": "RuntimeDefault"},
        }
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        kinds = {kind for volume in pod["volumes"] for kind in volume if kind != "name"}
        assert kinds <= {"configMap", "projected", "emptyDir"}
        assert not {"hostNetwork", "hostPID", "hostIPC"} & pod.keys()


def test_pods_are_spread_and_leave_one_by_one(rendered: Mapping[str, Rendered]) -> None:
    release = rendered["minimal"]
    labels = {"app.kubernetes.io/name": "magicbyte", "app.kubernetes.io/instance": "r"}
    labels |= {"app.kubernetes.io/component": "registry"}

    assert [
        (spread["topologyKey"], spread["whenUnsatisfiable"], spread["labelSelector"]["matchLabels"])
        for spread in release.pod(REGISTRY)["topologySpreadConstraints"]
    ] == [
        ("topology.kubernetes.io/zone", "ScheduleAnyway", labels),
        ("kubernetes.io/hostname", "ScheduleAnyway", labels),
    ]
    assert release.one("PodDisruptionBudget", REGISTRY)["spec"] == {
        "maxUnavailable": 1,
        "unhealthyPodEvictionPolicy": "AlwaysAllow",
        "selector": {"matchLabels": labels},
    }


def test_a_volume_of_sqlite_outlives_the_release(rendered: Mapping[str, Rendered]) -> None:
    spec = rendered["sqlite"].one("StatefulSet", REGISTRY)["spec"]

    assert spec["volumeClaimTemplates"][0]["spec"] == {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "fast",
        "resources": {"requests": {"storage": "2Gi"}},
    }
    assert spec["persistentVolumeClaimRetentionPolicy"] == {"whenDeleted": "Retain", "whenScaled": "Retain"}
    mounts = {mount["name"]: mount["mountPath"] for mount in spec["template"]["spec"]["containers"][0]["volumeMounts"]}
    assert mounts["data"] == "/var/lib/magicbyte"


def test_a_changed_property_restarts_the_pods_and_a_changed_label_does_not() -> None:
    def pods(*settings: str) -> Any:
        return render("minimal", settings).one("StatefulSet", REGISTRY)["spec"]["template"]

    before = pods()
    assert pods("registry.config.mode\\.mutability=false")["metadata"] != before["metadata"]
    assert pods("registry.replicas=5", "monitoring.serviceMonitor.enabled=true") == before


def test_scaling_restarts_the_proxy_and_the_notes_mention_the_restart(
    rendered: Mapping[str, Rendered], tmp_path: Path
) -> None:
    def checksum(release: Rendered) -> Any:
        return release.one("StatefulSet", PROXY)["spec"]["template"]["metadata"]["annotations"]["checksum/config"]

    assert checksum(render("strimzi", ["restProxy.replicas=3"])) != checksum(rendered["strimzi"])
    text = notes("strimzi", ["restProxy.replicas=3"], tmp_path)
    assert "restProxy.replicas (now 3), all its pods restart one by one, and their consumer instances end" in text


def test_the_notes_of_each_server(tmp_path: Path) -> None:
    text = notes("secured", ["restProxy.enabled=false"], tmp_path)

    assert "Schema Registry: https://r-magicbyte-registry.data.svc:8081 (3 pods)" in text
    assert "kubectl --namespace data rollout status statefulset/r-magicbyte-registry\n" in text
    assert "r-magicbyte-registry.data.svc\nand *.r-magicbyte-registry-headless.data.svc" in text
    assert "REST proxy" not in text


def test_a_registry_of_strimzi_has_exactly_the_rights_of_the_design(rendered: Mapping[str, Rendered]) -> None:
    assert acls(rendered["strimzi"].one("KafkaUser", REGISTRY)) == REGISTRY_ACLS


def test_a_registry_that_makes_its_topic_may_create_it() -> None:
    settings = ["strimzi.topic.enabled=false", "registry.config.kafkastore\\.topic=_s"]
    group = "registry.config.schema\\.registry\\.group\\.id=g"

    assert acls(render("strimzi", [*settings, group]).one("KafkaUser", REGISTRY)) == [
        ("topic", "_s", ["Read", "Write", "Describe", "DescribeConfigs", "Create"]),
        ("group", "magicbyte-g", ["Read", "Describe"]),
        ("group", "magicbyte-reader", ["Read", "Describe"]),
        ("group", "g", ["Describe"]),
        ("transactionalId", "magicbyte-g", ["Write", "Describe"]),
        ("cluster", None, ["IdempotentWrite"]),
    ]


def test_the_topic_of_strimzi(rendered: Mapping[str, Rendered]) -> None:
    (topic,) = rendered["strimzi"].all("KafkaTopic")

    assert topic["spec"] == {
        "topicName": "_schemas",
        "partitions": 1,
        "replicas": 3,
        "config": {"cleanup.policy": "compact", "min.insync.replicas": 2},
    }
    # The schemas outlive the release.
    assert topic["metadata"]["annotations"] == {"helm.sh/resource-policy": "keep"}


@pytest.mark.parametrize("kind", ["ServiceMonitor", "PrometheusRule", "NetworkPolicy", "Ingress", "HTTPRoute"])
def test_flags_are_off_by_default(rendered: Mapping[str, Rendered], kind: str) -> None:
    assert rendered["minimal"].all(kind) == []
    assert rendered["everything"].all(kind)


def test_a_scrape_takes_each_pod_once_and_signs_in(rendered: Mapping[str, Rendered]) -> None:
    release = rendered["everything"]
    monitor = release.one("ServiceMonitor", "events-registry")["spec"]
    services = [
        service["metadata"]["name"]
        for service in release.all("Service")
        if monitor["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
    ]

    assert services == ["events-registry-headless"]
    assert monitor["endpoints"] == [
        {
            "port": "https",
            "scheme": "https",
            "interval": "15s",
            "honorLabels": False,
            "relabelings": [
                {"targetLabel": "job", "replacement": "magicbyte-registry"},
                {"targetLabel": "cluster", "replacement": "data/events"},
            ],
            "tlsConfig": {"serverName": "events-registry.data.svc"},
            "basicAuth": {
                "username": {"name": "scraper", "key": "username"},
                "password": {"name": "scraper", "key": "password"},
            },
        }
    ]


def test_the_chart_has_the_alerts_and_dashboards_of_the_repository(rendered: Mapping[str, Rendered]) -> None:
    release = rendered["everything"]
    rules = yaml.safe_load((ROOT / "deploy" / "prometheus" / "rules.yml").read_text(encoding="utf-8"))
    dashboards = sorted((ROOT / "deploy" / "grafana").glob("*.json"))
    shown = [item for item in release.all("ConfigMap") if item["metadata"]["labels"].get("grafana_dashboard") == "1"]

    assert release.one("PrometheusRule", "events")["spec"] == rules
    assert dashboards
    assert [item["metadata"]["name"] for item in shown] == [f"events-dashboard-{file.stem}" for file in dashboards]
    assert [item["data"] for item in shown] == [
        {file.name: file.read_text(encoding="utf-8").removesuffix("\n")} for file in dashboards
    ]


def test_a_network_policy_keeps_the_ways_between_the_pods(rendered: Mapping[str, Rendered]) -> None:
    spec = rendered["everything"].one("NetworkPolicy", "events-registry")["spec"]
    release = {
        "podSelector": {"matchLabels": {"app.kubernetes.io/name": "magicbyte", "app.kubernetes.io/instance": "r"}}
    }

    (ingress,) = spec["ingress"]
    assert ingress["ports"] == [{"port": "https"}]
    assert ingress["from"][0] == release
    assert len(ingress["from"]) == 2
    assert spec["egress"][0] == {"ports": [{"port": 53, "protocol": "UDP"}, {"port": 53, "protocol": "TCP"}]}
    assert spec["egress"][1] == {"to": [release]}
    assert spec["policyTypes"] == ["Ingress", "Egress"]


def test_names_are_short_enough_for_pods() -> None:
    release = render("strimzi", [f"fullnameOverride={'x' * 63}"])

    assert all(len(item["metadata"]["name"]) <= 63 for item in release.objects)
    # The hash of a revision comes behind the name of a StatefulSet.
    assert all(len(item["metadata"]["name"]) <= 52 for item in release.all("StatefulSet"))


def test_an_image_by_digest_and_by_tag(rendered: Mapping[str, Rendered]) -> None:
    def image(release: Rendered, name: str) -> Any:
        return release.pod(name)["containers"][0]["image"]

    digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
    assert image(rendered["everything"], "events-registry") == f"registry.example.com/data/magicbyte@{digest}"
    assert image(render("minimal", ["image.tag=9.9"]), REGISTRY) == "magicbyte:9.9"
