"""The eight files of values: Helm takes them, and Kubernetes and the operators take what they render."""

from __future__ import annotations

import subprocess
from pathlib import Path

import jsonschema
import pytest
import yaml

from tests.deploy.chart.custom_resources import custom_schemas
from tests.deploy.chart.rendering import ROOT, VALUES, Rendered, run_helm

pytestmark = pytest.mark.chart

NAMES = [file.stem for file in VALUES]
VALIDATOR = ROOT / ".venv-deploy" / "bin" / "kubernetes-validate"
#: The oldest that the chart takes, and the newest that the validator has.
KUBERNETES = ("1.30", "1.37")


def test_the_chart_has_eight_values_files() -> None:
    assert NAMES == [
        "everything",
        "managed-kafka",
        "minimal",
        "postgresql",
        "rest-proxy",
        "secured",
        "sqlite",
        "strimzi",
    ]


@pytest.mark.parametrize("name", NAMES)
def test_helm_lint_finds_nothing(name: str) -> None:
    done = run_helm("lint", name)

    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 chart(s) failed" in done.stdout


@pytest.mark.parametrize("version", KUBERNETES)
def test_kubernetes_takes_all_objects(rendered: dict[str, Rendered], version: str, tmp_path: Path) -> None:
    files = []
    for name, release in rendered.items():
        files.append(tmp_path / f"{name}.yaml")
        known = [item for item in release.objects if (item["apiVersion"], item["kind"]) not in custom_schemas()]
        files[-1].write_text(yaml.safe_dump_all(known), encoding="utf-8")

    done = subprocess.run(
        [VALIDATOR, "--strict", "--quiet", "-k", version, *files], capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("wrong", ["replicas: three", "replica: 3"])
def test_the_validator_would_find_a_wrong_field(rendered: dict[str, Rendered], wrong: str, tmp_path: Path) -> None:
    broken = yaml.safe_load(yaml.safe_dump(rendered["minimal"].one("StatefulSet", "r-magicbyte-registry")))
    broken["spec"] |= yaml.safe_load(wrong)
    (tmp_path / "broken.yaml").write_text(yaml.safe_dump(broken), encoding="utf-8")

    done = subprocess.run([VALIDATOR, "--strict", tmp_path / "broken.yaml"], capture_output=True, check=False)

    assert done.returncode == 1


def test_the_operators_take_their_objects(rendered: dict[str, Rendered]) -> None:
    schemas = custom_schemas()
    checked = set()
    for name, release in rendered.items():
        for item in release.objects:
            kind = (item["apiVersion"], item["kind"])
            if kind in schemas:
                errors = list(jsonschema.Draft4Validator(schemas[kind]).iter_errors(item))
                assert not errors, f"{name}: {kind}: {errors[0].message} at {list(errors[0].absolute_path)}"
                checked.add(kind)

    assert checked == {
        ("gateway.networking.k8s.io/v1", "HTTPRoute"),
        ("kafka.strimzi.io/v1", "KafkaTopic"),
        ("kafka.strimzi.io/v1", "KafkaUser"),
        ("kafka.strimzi.io/v1beta2", "KafkaTopic"),
        ("kafka.strimzi.io/v1beta2", "KafkaUser"),
        ("monitoring.coreos.com/v1", "PrometheusRule"),
        ("monitoring.coreos.com/v1", "ServiceMonitor"),
    }


@pytest.mark.parametrize(
    ("kind", "path", "wrong"),
    [
        (("kafka.strimzi.io/v1", "KafkaUser"), ("spec", "authentication", "type"), "password"),
        (("kafka.strimzi.io/v1", "KafkaUser"), ("spec", "authorization", "acls", 0, "operations", 0), "read"),
        (("kafka.strimzi.io/v1", "KafkaTopic"), ("spec", "partition"), 1),
        (("kafka.strimzi.io/v1beta2", "KafkaUser"), ("spec", "authorization", "rules"), []),
        (("monitoring.coreos.com/v1", "ServiceMonitor"), ("spec", "endpoints", 0, "scheme"), 1),
        (("gateway.networking.k8s.io/v1", "HTTPRoute"), ("spec", "rules", 0, "backendRefs", 0, "port"), 70000),
    ],
)
def test_the_operators_schemas_would_find_a_wrong_field(
    rendered: dict[str, Rendered], kind: tuple[str, str], path: tuple[str | int, ...], wrong: object
) -> None:
    objects = [item for release in rendered.values() for item in release.objects]
    item = next(item for item in objects if (item["apiVersion"], item["kind"]) == kind)
    broken = yaml.safe_load(yaml.safe_dump(item))
    place = broken
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = wrong

    assert not jsonschema.Draft4Validator(custom_schemas()[kind]).is_valid(broken)
