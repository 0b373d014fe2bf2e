"""The SparkApplication of the Spark operator (sparkoperator.k8s.io/v1beta2) that runs a pipeline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from magicbyte.cli.pipeline.deploy.declared import Declared
from magicbyte.cli.pipeline.deploy.kubernetes_name import kubernetes_name
from magicbyte.cli.pipeline.deploy.resources import whole_number
from magicbyte.cli.pipeline.submitting import session_properties

#: The folder of the file in the driver's pod.
FOLDER = PurePosixPath("/etc/magicbyte")
#: Spark's name of the driver's container, to which the template adds the probes.
_CONTAINER = "spark-kubernetes-driver"
#: Seconds between two starts of a run that failed, and the starts of a run that ends by itself.
_PAUSE, _RETRIES = 30, 5

#: Spark's properties that have fields of their own: property -> section, field.
_TEXTS = {
    "spark.kubernetes.container.image": ("", "image"),
    "spark.kubernetes.container.image.pullPolicy": ("", "imagePullPolicy"),
    "spark.kubernetes.memoryOverheadFactor": ("", "memoryOverheadFactor"),
    "spark.driver.memory": ("driver", "memory"),
    "spark.driver.memoryOverhead": ("driver", "memoryOverhead"),
    "spark.kubernetes.driver.request.cores": ("driver", "coreRequest"),
    "spark.kubernetes.driver.limit.cores": ("driver", "coreLimit"),
    "spark.kubernetes.driver.container.image": ("driver", "image"),
    "spark.kubernetes.authenticate.driver.serviceAccountName": ("driver", "serviceAccount"),
    "spark.executor.memory": ("executor", "memory"),
    "spark.executor.memoryOverhead": ("executor", "memoryOverhead"),
    "spark.kubernetes.executor.request.cores": ("executor", "coreRequest"),
    "spark.kubernetes.executor.limit.cores": ("executor", "coreLimit"),
    "spark.kubernetes.executor.container.image": ("executor", "image"),
    "spark.kubernetes.authenticate.executor.serviceAccountName": ("executor", "serviceAccount"),
}
_NUMBERS = {
    "spark.driver.cores": ("driver", "cores"),
    "spark.executor.cores": ("executor", "cores"),
    "spark.executor.instances": ("executor", "instances"),
}
#: Properties that the operator sets itself, or that are elsewhere in the manifest.
_ELSEWHERE = frozenset(
    {"spark.master", "spark.submit.deployMode", "spark.app.name", "spark.kubernetes.namespace", "spark.jars.packages"}
)


@dataclass(frozen=True, slots=True)
class Image:
    """The image, and how the driver's container uses it.

    Attributes:
        program: The path of the program in the image.
        spark: The version of Spark.
        packages: The Maven packages that the driver and the executors load.
        port: The port of the metrics.
        secret: The Secret that has the variables of placeholders; by default, the one with the pipeline's name.
    """

    program: str
    spark: str
    packages: tuple[str, ...]
    port: int
    secret: str | None = None


def spark_application(pipeline: Declared, image: Image, arguments: list[str]) -> dict[str, Any]:
    """The manifest.

    Args:
        pipeline: The file.
        image: The image.
        arguments: The program's arguments after the file.

    Raises:
        PipelineError: a property of Spark's is no number.
    """
    name = kubernetes_name(pipeline.pipeline.name)
    namespace = pipeline.spark.get("spark.kubernetes.namespace")
    sections = _sections(pipeline)
    spec = {
        "type": "Python",
        "pythonVersion": "3",
        "mode": "cluster",
        "sparkVersion": image.spark,
        **sections[""],
        "mainApplicationFile": f"local://{image.program}",
        "arguments": [str(FOLDER / pipeline.file.name), *arguments, "--metrics", f"0.0.0.0:{image.port}"],
        "deps": {"packages": list(image.packages)},
        "sparkConf": _conf(session_properties(pipeline.pipeline, pipeline.spark)),
        "restartPolicy": _restart_policy(runs_on=pipeline.runs_on),
        "driver": {
            **sections["driver"],
            "labels": _labels(name),
            "annotations": {
                "prometheus.io/scrape": "true",
                "prometheus.io/port": str(image.port),
                "prometheus.io/path": "/metrics",
            },
            "configMaps": [{"name": name, "path": str(FOLDER)}],
            **_environment(pipeline.variables, image.secret or name),
            "ports": [{"name": "metrics", "protocol": "TCP", "containerPort": image.port}],
            "template": {"spec": {"containers": [{"name": _CONTAINER, **_probes(image.port)}]}},
        },
        "executor": {**sections["executor"], "labels": _labels(name)},
    }
    return {
        "apiVersion": "sparkoperator.k8s.io/v1beta2",
        "kind": "SparkApplication",
        "metadata": {"name": name, **({"namespace": namespace} if namespace else {}), "labels": _labels(name)},
        "spec": {key: value for key, value in spec.items() if value not in ({}, {"packages": []})},
    }


def _labels(name: str) -> dict[str, str]:
    """A new mapping for each place: YAML would refer from one place to another."""
    return {"app.kubernetes.io/name": name, "app.kubernetes.io/part-of": "magicbyte"}


def _sections(pipeline: Declared) -> dict[str, dict[str, Any]]:
    """The fields of the manifest, the driver and the executors that Spark's properties set."""
    sections: dict[str, dict[str, Any]] = {"": {}, "driver": {}, "executor": {}}
    for name, value in pipeline.spark.items():
        if name in _TEXTS:
            section, field = _TEXTS[name]
            sections[section][field] = value
        elif name in _NUMBERS:
            section, field = _NUMBERS[name]
            sections[section][field] = whole_number(pipeline.pipeline, name, value)
    return sections


def _conf(properties: Mapping[str, str]) -> dict[str, str]:
    """The properties that have no fields of their own."""
    others = {name: value for name, value in properties.items() if name not in {*_TEXTS, *_NUMBERS, *_ELSEWHERE}}
    return dict(sorted(others.items()))


def _restart_policy(*, runs_on: bool) -> dict[str, Any]:
    """Restarts: a pipeline that runs on starts again whenever its driver ends, for example with its node."""
    if runs_on:
        return {"type": "Always", "onFailureRetryInterval": _PAUSE, "onSubmissionFailureRetryInterval": _PAUSE}
    return {
        "type": "OnFailure",
        "onFailureRetries": _RETRIES,
        "onFailureRetryInterval": _PAUSE,
        "onSubmissionFailureRetries": _RETRIES,
        "onSubmissionFailureRetryInterval": _PAUSE,
    }


def _environment(variables: Mapping[str, bool], secret: str) -> dict[str, Any]:
    """The variables of the file's placeholders, each a key of one Secret; one with a default may be missing."""
    if not variables:
        return {}
    return {
        "env": [
            {
                "name": variable,
                "valueFrom": {
                    "secretKeyRef": {"name": secret, "key": variable, **({} if is_needed else {"optional": True})}
                },
            }
            for variable, is_needed in variables.items()
        ]
    }


def _probes(port: int) -> dict[str, Any]:
    """The probes: the port opens when Spark has started, and a run that is stuck is killed and started again."""
    times = {
        "startupProbe": {"periodSeconds": 10, "failureThreshold": 60},
        "livenessProbe": {"periodSeconds": 20, "timeoutSeconds": 5, "failureThreshold": 3},
    }
    return {name: {"httpGet": {"path": "/health", "port": port}, **fields} for name, fields in times.items()}
