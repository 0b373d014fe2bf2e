"""Schemas of the objects that are no Kubernetes' own: from Go modules, and from Strimzi's classes on Maven Central.

They are cached by version, and nothing of them is in the repository.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from magicbyte.kit.failure import cache_folder
from magicbyte.platform.jars import fetch, parse_lock
from magicbyte.platform.java import find_broker_java
from tests.deploy.chart.helm import ToolMissing, go_command

#: Go module -> the files in it that define the resources.
_MODULES = {
    "github.com/prometheus-operator/prometheus-operator@v0.85.0": (
        "example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml",
        "example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml",
    ),
    "sigs.k8s.io/gateway-api@v1.4.0": ("config/crd/standard/gateway.networking.k8s.io_httproutes.yaml",),
}
_STRIMZI = "io.strimzi.api.kafka.model"
#: The last generator that runs on Java 17, and the last classes with both v1beta2 and v1.
_STRIMZI_CLASSES = {"KafkaTopic": f"{_STRIMZI}.topic.KafkaTopic", "KafkaUser": f"{_STRIMZI}.user.KafkaUser"}
_LOCK = Path(__file__).with_name("strimzi.lock")

Schema = Mapping[str, Any]
#: Of an object: its apiVersion and kind.
Kind = tuple[str, str]


@cache
def custom_schemas() -> dict[Kind, Schema]:
    """The OpenAPI schemas of all custom resources in the chart, by apiVersion and kind."""
    texts = [text for folder in _folders() for text in map(Path.read_text, sorted(folder.glob("*.yaml")))]
    return dict(item for text in texts for item in _schemas(yaml.safe_load(text)))


def ensure_schemas() -> None:
    """Fetch what is not cached.

    Raises:
        ToolMissing: A registry of packages cannot be reached, or there is no Go or Java.
    """
    modules, strimzi = _folders()
    _fill(modules, _take_all)
    _fill(strimzi, _generate)


def _folders() -> tuple[Path, Path]:
    versions = "-".join(sorted(module.rpartition("@")[2] for module in _MODULES))
    generated = "-".join(jar.version for jar in parse_lock(_LOCK.read_text(encoding="utf-8")))
    tools = cache_folder() / "tools"
    return tools / f"custom-resources-{versions}", tools / f"strimzi-{generated}"


def _fill(folder: Path, fill: Callable[[Path], None]) -> None:
    if folder.exists():
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    print(f"fetching the schemas of {folder.name} ...", flush=True)
    # The folder appears as a whole, also if this is interrupted.
    temporary = Path(tempfile.mkdtemp(dir=folder.parent))
    try:
        fill(temporary)
        temporary.rename(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _take_all(folder: Path) -> None:
    for module, files in _MODULES.items():
        _take(folder, module, files)


def _take(folder: Path, module: str, files: tuple[str, ...]) -> None:
    command = [go_command(), "mod", "download", "-json", module]
    # A module for a newer Go is downloaded all the same, and its zip is all we need.
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    archive = json.loads(done.stdout or "{}").get("Zip")
    if not archive:
        raise ToolMissing(f"`{' '.join(command)}` failed: {(done.stderr.strip().splitlines() or ['no answer'])[-1]}")
    with zipfile.ZipFile(archive) as contents:
        for file in files:
            (folder / Path(file).name).write_bytes(contents.read(f"{module}/{file}"))


def _generate(folder: Path) -> None:
    jars = fetch(parse_lock(_LOCK.read_text(encoding="utf-8")), program="the schemas of Strimzi")
    outputs = [f"{name}={folder / kind}.yaml" for kind, name in _STRIMZI_CLASSES.items()]
    main = "io.strimzi.crdgenerator.CrdGenerator"
    command = [str(find_broker_java().executable), "-cp", ":".join(map(str, jars)), main, "--yaml", *outputs]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ToolMissing(f"Strimzi's generator of schemas failed: {done.stderr.strip().splitlines()[-1]}")


def _schemas(definition: Mapping[str, Any]) -> Iterator[tuple[Kind, Schema]]:
    spec = definition["spec"]
    for version in spec["versions"]:
        schema = version["schema"]["openAPIV3Schema"]
        yield (f"{spec['group']}/{version['name']}", spec["names"]["kind"]), _closed(schema, is_object=True)


def _closed(schema: Any, *, is_object: bool = False) -> Any:
    """A schema that refuses unknown fields, as the API server does with strict validation."""
    if isinstance(schema, list):
        return [_closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {key: value if key in ("default", "enum") else _closed(value) for key, value in schema.items()}
    if closed.pop("x-kubernetes-int-or-string", False):
        closed.pop("type", None)
    properties = closed.get("properties")
    is_open = schema.get("x-kubernetes-preserve-unknown-fields") or "additionalProperties" in schema
    # A schema below anyOf only adds to the one beside it.
    if isinstance(properties, dict) and schema.get("type") == "object" and not is_open:
        closed["additionalProperties"] = False
    if is_object:
        closed["properties"] = {**closed["properties"], "metadata": {"type": "object"}}
    return closed
