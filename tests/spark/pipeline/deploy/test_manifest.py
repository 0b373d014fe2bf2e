"""`magicbyte pipeline manifest`: the SparkApplication, and the types of its fields."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyspark
import pytest
import yaml

import spark_avro
from magicbyte.cli.main import main
from magicbyte.cli.pipeline.deploy.kubernetes_name import kubernetes_name
from tests.spark.pipeline.deploy.conftest import WriteFile

IMAGE = "--image=registry.example/magicbyte:1"
PROGRAM = "--program=/opt/magicbyte/main.py"
LIMITS = (
    "-Dorg.apache.avro.limits.bytes.maxLength=134217728 -Dorg.apache.avro.limits.string.maxLength=134217728"
    " -Dorg.apache.avro.limits.collectionItems.maxLength=134217728"
)
JAVA_OPTIONS = {"spark.driver.extraJavaOptions": LIMITS, "spark.executor.extraJavaOptions": LIMITS}

#: The fields that a manifest has, with the types that sparkoperator.k8s.io/v1beta2 gives them; `*` is any name.
FIELDS = {
    "apiVersion": "sparkoperator.k8s.io/v1beta2",
    "kind": "SparkApplication",
    "metadata.name": str,
    "metadata.namespace": str,
    "metadata.labels.*": str,
    "spec.type": "Python",
    "spec.pythonVersion": "3",
    "spec.mode": "cluster",
    "spec.sparkVersion": str,
    "spec.image": str,
    "spec.imagePullPolicy": str,
    "spec.memoryOverheadFactor": str,
    "spec.mainApplicationFile": str,
    "spec.arguments[]": str,
    "spec.deps.packages[]": str,
    "spec.sparkConf.*": str,
    "spec.restartPolicy.type": ("Always", "OnFailure", "Never"),
    "spec.restartPolicy.onFailureRetries": int,
    "spec.restartPolicy.onFailureRetryInterval": int,
    "spec.restartPolicy.onSubmissionFailureRetries": int,
    "spec.restartPolicy.onSubmissionFailureRetryInterval": int,
    "spec.driver.cores": int,
    "spec.driver.coreRequest": str,
    "spec.driver.coreLimit": str,
    "spec.driver.memory": str,
    "spec.driver.memoryOverhead": str,
    "spec.driver.image": str,
    "spec.driver.serviceAccount": str,
    "spec.driver.labels.*": str,
    "spec.driver.annotations.*": str,
    "spec.driver.configMaps[].name": str,
    "spec.driver.configMaps[].path": str,
    "spec.driver.env[].name": str,
    "spec.driver.env[].valueFrom.secretKeyRef.name": str,
    "spec.driver.env[].valueFrom.secretKeyRef.key": str,
    "spec.driver.env[].valueFrom.secretKeyRef.optional": bool,
    "spec.driver.ports[].name": str,
    "spec.driver.ports[].protocol": str,
    "spec.driver.ports[].containerPort": int,
    "spec.driver.template.spec.containers[].name": "spark-kubernetes-driver",
    **{
        f"spec.driver.template.spec.containers[].{probe}.{field}": kind
        for probe in ("startupProbe", "livenessProbe")
        for field, kind in {
            "httpGet.path": str,
            "httpGet.port": int,
            "periodSeconds": int,
            "timeoutSeconds": int,
            "failureThreshold": int,
        }.items()
    },
    "spec.executor.cores": int,
    "spec.executor.instances": int,
    "spec.executor.coreRequest": str,
    "spec.executor.coreLimit": str,
    "spec.executor.memory": str,
    "spec.executor.memoryOverhead": str,
    "spec.executor.image": str,
    "spec.executor.serviceAccount": str,
    "spec.executor.labels.*": str,
}
#: The fields that a manifest must have.
REQUIRED = {"driver", "executor", "mainApplicationFile", "sparkVersion", "type"}
_WITH_ANY_NAMES = re.compile(r"(labels|annotations|sparkConf)\..*")

EVERYTHING = """
trigger: {every: 30s}
errors: {topic: dead, tolerance: all, mask: true}
include: common.yaml
spark:
  spark.kubernetes.container.image: registry.example/magicbyte:2
  spark.kubernetes.container.image.pullPolicy: Always
  spark.kubernetes.memoryOverheadFactor: 0.5
  spark.kubernetes.namespace: lake
  spark.kubernetes.driver.container.image: registry.example/driver:1
  spark.kubernetes.driver.request.cores: 500m
  spark.kubernetes.driver.limit.cores: 1500m
  spark.kubernetes.authenticate.driver.serviceAccountName: spark
  spark.kubernetes.executor.container.image: registry.example/executor:1
  spark.kubernetes.executor.request.cores: 1
  spark.kubernetes.executor.limit.cores: 2
  spark.kubernetes.authenticate.executor.serviceAccountName: executors
  spark.driver.cores: 1
  spark.driver.memory: 2g
  spark.driver.memoryOverhead: 1g
  spark.executor.cores: 2
  spark.executor.instances: 3
  spark.executor.memory: 4g
  spark.executor.memoryOverhead: 512m
  spark.sql.shuffle.partitions: 8
  spark.speculation: false
  spark.master: local
  spark.jars.packages: a:b:1,c:d:2
  spark.hadoop.fs.s3a.secret.key: s3cr3t
  spark.hadoop.fs.s3a.endpoint: ${env:ENDPOINT}
  spark.hadoop.fs.azure.account.key.lake.dfs.core.windows.net: s3cr3t
  spark.hadoop.fs.azure.sas.flights.lake.blob.core.windows.net: s3cr3t
  spark.hadoop.fs.azure.sas.fixed.token.lake.dfs.core.windows.net: s3cr3t
  spark.hadoop.fs.other: https://u:s3cr3t@host
"""


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _leaves(item, f"{path}.{name}".removeprefix("."))
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item, f"{path}[]")
    else:
        yield path, value


def _field(path: str) -> str:
    return _WITH_ANY_NAMES.sub(r"\1.*", path)


def _manifest(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert main(["pipeline", "manifest", *words, PROGRAM]) == 0
    return yaml.safe_load(capsys.readouterr().out)


def test_the_manifest_of_a_pipeline_that_runs_on(write_file: WriteFile, capsys: pytest.CaptureFixture[str]) -> None:
    file = write_file("trigger: {every: 30s}\nspark: {spark.executor.instances: 2, spark.driver.memory: 2g}")
    assert main(["pipeline", "manifest", str(file), IMAGE, PROGRAM]) == 0
    streams = capsys.readouterr()
    packages = spark_avro.packages().split(",")
    labels = {"app.kubernetes.io/name": "flights", "app.kubernetes.io/part-of": "magicbyte"}
    probe = {"httpGet": {"path": "/health", "port": 9109}}
    assert yaml.safe_load(streams.out) == {
        "apiVersion": "sparkoperator.k8s.io/v1beta2",
        "kind": "SparkApplication",
        "metadata": {"name": "flights", "labels": labels},
        "spec": {
            "type": "Python",
            "pythonVersion": "3",
            "mode": "cluster",
            "sparkVersion": pyspark.__version__,
            "image": "registry.example/magicbyte:1",
            "mainApplicationFile": "local:///opt/magicbyte/main.py",
            "arguments": ["/etc/magicbyte/flights.yaml", "--metrics", "0.0.0.0:9109"],
            "deps": {"packages": packages},
            "sparkConf": {**JAVA_OPTIONS, "spark.sql.session.timeZone": "UTC"},
            "restartPolicy": {
                "type": "Always",
                "onFailureRetryInterval": 30,
                "onSubmissionFailureRetryInterval": 30,
            },
            "driver": {
                "memory": "2g",
                "labels": labels,
                "annotations": {
                    "prometheus.io/scrape": "true",
                    "prometheus.io/port": "9109",
                    "prometheus.io/path": "/metrics",
                },
                "configMaps": [{"name": "flights", "path": "/etc/magicbyte"}],
                "env": [
                    {
                        "name": "BROKERS",
                        "valueFrom": {"secretKeyRef": {"name": "flights", "key": "BROKERS", "optional": True}},
                    }
                ],
                "ports": [{"name": "metrics", "protocol": "TCP", "containerPort": 9109}],
                "template": {
                    "spec": {
                        "containers": [
                            {
                                "name": "spark-kubernetes-driver",
                                "startupProbe": {**probe, "periodSeconds": 10, "failureThreshold": 60},
                                "livenessProbe": {
                                    **probe,
                                    "periodSeconds": 20,
                                    "timeoutSeconds": 5,
                                    "failureThreshold": 3,
                                },
                            }
                        ]
                    }
                },
            },
            "executor": {"instances": 2, "labels": labels},
        },
    }
    assert streams.err.splitlines() == [
        "magicbyte pipeline: needs the ConfigMap flights with the file: kubectl create configmap flights"
        f" --from-file={file}",
        "magicbyte pipeline: needs the Secret flights with the keys BROKERS (optional)",
    ]
    # Anchors are YAML, but no tool for manifests writes them.
    assert "&" not in streams.out


def test_each_field_has_its_type(
    write_file: WriteFile, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENDPOINT", "http://hidden:9000")
    file = write_file(EVERYTHING)
    file.with_name("common.yaml").write_text('kafka: {sasl.password: "${file:/run/secrets/kafka:password}"}\n')
    used: set[str] = set()
    for words in ([], ["--set", "trigger={available: now}"]):
        document = _manifest(capsys, str(file), *words)
        assert set(document["spec"]) >= REQUIRED
        for path, value in _leaves(document):
            kind = FIELDS[_field(path)]
            if isinstance(kind, type):
                assert type(value) is kind, path
            else:
                assert value in ((kind,) if isinstance(kind, str) else kind), path
            used.add(_field(path))
    assert used == set(FIELDS) - {
        "spec.driver.template.spec.containers[].startupProbe.timeoutSeconds",
    }


def test_where_properties_of_spark_go(
    write_file: WriteFile, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENDPOINT", "http://hidden:9000")
    file = write_file(EVERYTHING)
    file.with_name("common.yaml").write_text('kafka: {sasl.password: "${file:/run/secrets/kafka:password}"}\n')
    assert main(["pipeline", "manifest", str(file), PROGRAM, "--metrics-port", "9200", "--secret", "lake-secrets"]) == 0
    streams = capsys.readouterr()
    document = yaml.safe_load(streams.out)
    spec, driver, executor = (document["spec"], document["spec"]["driver"], document["spec"]["executor"])
    assert document["metadata"]["namespace"] == "lake"
    assert spec["sparkConf"] == {
        **JAVA_OPTIONS,
        "spark.speculation": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "8",
    }
    assert spec["deps"] == {"packages": ["a:b:1", "c:d:2"]}
    assert [driver[name] for name in ("cores", "memory", "memoryOverhead", "coreRequest", "coreLimit")] == [
        *(1, "2g", "1g", "500m", "1500m")
    ]
    assert [executor[name] for name in ("cores", "instances", "memory", "memoryOverhead", "coreRequest")] == [
        *(2, 3, "4g", "512m", "1")
    ]
    assert driver["env"][1] == {
        "name": "ENDPOINT",
        "valueFrom": {"secretKeyRef": {"name": "lake-secrets", "key": "ENDPOINT"}},
    }
    assert spec["arguments"] == ["/etc/magicbyte/flights.yaml", "--metrics", "0.0.0.0:9200"]
    assert "s3cr3t" not in streams.out
    assert "hidden" not in streams.out
    where = "is not in the manifest: the driver takes it from /etc/magicbyte/flights.yaml when it has started"
    assert [line.removeprefix("magicbyte pipeline: ") for line in streams.err.splitlines()] == [
        "needs the ConfigMap flights with the file: kubectl create configmap flights"
        f" --from-file={file} --from-file={file.with_name('common.yaml')}",
        "needs the Secret lake-secrets with the keys BROKERS (optional), ENDPOINT",
        "a placeholder reads /run/secrets/kafka, which has to be in the driver's pod; mount it by driver.secrets",
        f"spark.hadoop.fs.s3a.secret.key {where}",
        f"spark.hadoop.fs.s3a.endpoint {where}",
        f"spark.hadoop.fs.azure.account.key.lake.dfs.core.windows.net {where}",
        f"spark.hadoop.fs.azure.sas.flights.lake.blob.core.windows.net {where}",
        f"spark.hadoop.fs.azure.sas.fixed.token.lake.dfs.core.windows.net {where}",
        f"spark.hadoop.fs.other {where}",
    ]


def test_a_pipeline_that_ends_by_itself_starts_again_after_failures_only(
    write_file: WriteFile, capsys: pytest.CaptureFixture[str]
) -> None:
    document = _manifest(capsys, str(write_file("")), IMAGE, "--unhealthy-after", "2h", "--set", "source.start=latest")
    assert document["spec"]["restartPolicy"] == {
        "type": "OnFailure",
        "onFailureRetries": 5,
        "onFailureRetryInterval": 30,
        "onSubmissionFailureRetries": 5,
        "onSubmissionFailureRetryInterval": 30,
    }
    assert document["spec"]["arguments"] == [
        "/etc/magicbyte/flights.yaml",
        *("--set", "source.start=latest"),
        *("--unhealthy-after", "2h"),
        *("--metrics", "0.0.0.0:9109"),
    ]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("flights-to-lake", "flights-to-lake"),
        ("2026-flights", "p-2026-flights"),
        ("-flights-", "flights"),
        ("--", "p"),
        ("a" * 52, "a" * 52),
        ("a" * 53, "a" * 45 + "-abe346"),
        ("a" * 44 + "-" + "b" * 15, "a" * 44 + "-7a655c"),
    ],
)
def test_names_are_those_of_kubernetes(name: str, expected: str) -> None:
    assert kubernetes_name(name) == expected
    assert re.fullmatch("[a-z]([-a-z0-9]*[a-z0-9])?", expected)
    assert len(f"{expected}-driver-svc") <= 63


@pytest.mark.parametrize(
    ("rest", "words", "message"),
    [
        ("", (), "spark: spark.kubernetes.container.image is missing; name the image there, or by --image"),
        ("", (IMAGE, "--metrics-port", "0"), "--metrics-port must be a number from 1 to 65535, not 0"),
        ("", (IMAGE, "--program", "opt/main.py"), "--program must be an absolute path in the image, not opt/main.py"),
        ("", (IMAGE, "--metrics-port", "65536"), "--metrics-port must be a number from 1 to 65535, not 65536"),
        ("spark: {spark.executor.instances: some}", (IMAGE,), "spark.executor.instances must be a whole number"),
        ("", (IMAGE, "--set", "registry.properties.bearer.auth.token=t"), "a secret would be readable"),
    ],
)
def test_invalid_manifests_are_refused(
    rest: str, words: tuple[str, ...], message: str, write_file: WriteFile, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["pipeline", "manifest", str(write_file(rest)), *words]) == 2
    streams = capsys.readouterr()
    assert message in streams.err
    assert streams.out == ""


@pytest.mark.parametrize(
    ("sink", "properties"),
    [
        (
            "delta: {path: s3a://lake/flights}",
            {
                "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
                "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
            },
        ),
        (
            "iceberg: {table: lake.db.flights}",
            {"spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"},
        ),
    ],
)
def test_a_session_has_the_table_formats_and_the_limits(
    sink: str, properties: dict[str, str], write_file: WriteFile, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write_file("spark: {spark.executor.extraJavaOptions: -Xss4m, spark.sql.catalog.lake: a.Catalog}")
    file.write_text(file.read_text().replace("files: {path: /srv/lake/flights}", sink))
    expected = {
        **JAVA_OPTIONS,
        **properties,
        "spark.executor.extraJavaOptions": f"{LIMITS} -Xss4m",
        "spark.sql.catalog.lake": "a.Catalog",
        "spark.sql.session.timeZone": "UTC",
    }
    assert _manifest(capsys, str(file), IMAGE)["spec"]["sparkConf"] == expected
    assert main(["pipeline", "submit", str(file), "--master", "spark://host:7077"]) == 0
    words = shlex.split(capsys.readouterr().out)
    conf = dict(words[number + 1].split("=", 1) for number, word in enumerate(words) if word == "--conf")
    assert {name: value for name, value in conf.items() if name != "spark.jars.packages"} == expected


@pytest.mark.parametrize(
    "text", ["y", "n", "on", "1e3", "12e4", "08", "0o17", "1e+3", "1_000", "12:30", "~", "", "a: b"]
)
def test_a_text_is_in_quotes(text: str, write_file: WriteFile, capsys: pytest.CaptureFixture[str]) -> None:
    file = write_file(f"spark: {{spark.x: {text!r}}}")
    assert main(["pipeline", "manifest", str(file), IMAGE, "--set", f"source.options.x='{text}'"]) == 0
    out = capsys.readouterr().out
    assert f'    spark.x: "{text}"\n' in out
    assert f"""  - "source.options.x='{text}'"\n""" in out
    assert '\nkind: "SparkApplication"\n' in out


def test_properties_that_the_driver_reads_too_late_are_told(
    write_file: WriteFile, capsys: pytest.CaptureFixture[str]
) -> None:
    late = {
        "spark.driver.memory": "${env:V}",
        "spark.driver.extraJavaOptions": "-Djavax.net.ssl.trustStorePassword=s3cr3t",
        "spark.jars.packages": "${env:V}",
        "spark.jars.repositories": "https://u:s3cr3t@repo.example",
        "spark.kubernetes.namespace": "${env:V}",
        "spark.executor.instances": "${env:V}",
    }
    file = write_file(yaml.safe_dump({"spark": {**late, "spark.executor.extraJavaOptions": "-Dpassword=s3cr3t"}}))
    assert main(["pipeline", "manifest", str(file), IMAGE]) == 0
    streams = capsys.readouterr()
    assert "s3cr3t" not in streams.out + streams.err
    told = [line.removeprefix("magicbyte pipeline: ") for line in streams.err.splitlines() if " is not in " in line]
    mounted = "/etc/magicbyte/flights.yaml"
    assert sorted(told) == sorted(
        [
            f"{name} is not in the manifest, and the driver reads {mounted} too late for it: add it yourself"
            for name in late
        ]
        + [
            "spark.executor.extraJavaOptions is not in the manifest:"
            f" the driver takes it from {mounted} when it has started"
        ]
    )


def test_the_config_map_has_includes_of_includes(
    write_file: WriteFile, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "it's inner.yaml").write_text("audit: false\n")
    (tmp_path / "outer.yaml").write_text('include: "it\'s inner.yaml"\n')
    file = write_file("include: [outer.yaml]")
    assert main(["pipeline", "manifest", str(file), IMAGE]) == 0
    told = capsys.readouterr().err.splitlines()[0]
    words = shlex.split(told.partition("the file: ")[2])
    names = ("flights.yaml", "outer.yaml", "it's inner.yaml")
    assert words == ["kubectl", "create", "configmap", "flights", *(f"--from-file={tmp_path / name}" for name in names)]


def test_an_include_of_another_folder_is_told(
    write_file: WriteFile, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "common.yaml").write_text("audit: false\n")
    file = write_file("include: shared/common.yaml")
    assert main(["pipeline", "manifest", str(file), IMAGE]) == 0
    assert "a ConfigMap has no folders: include shared/common.yaml by its name alone" in capsys.readouterr().err
