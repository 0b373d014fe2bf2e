"""The chart's rendered output: objects for a file of values, and the texts of refusals."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.deploy.chart.helm import helm

ROOT = Path(__file__).parents[3]
CHART = ROOT / "deploy" / "helm" / "magicbyte"
VALUES = sorted((ROOT / "deploy" / "helm" / "values").glob("*.yaml"))
NAMESPACE = "data"
#: Helm that `go install` has built knows no version of Kubernetes.
KUBERNETES = "1.37"

Object = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Rendered:
    """The objects of a release called `r`, in the namespace `data`."""

    objects: tuple[Object, ...]

    def one(self, kind: str, name: str) -> Any:
        """The only object of a kind with a name."""
        (found,) = [item for item in self.all(kind) if item["metadata"]["name"] == name]
        return found

    def all(self, kind: str) -> list[Any]:
        """The objects of a kind."""
        return [item for item in self.objects if item["kind"] == kind]

    def pod(self, name: str) -> Any:
        """The pod template's spec of a StatefulSet."""
        return self.one("StatefulSet", name)["spec"]["template"]["spec"]

    def environment(self, name: str) -> dict[str, str]:
        """The variables of a StatefulSet's container that have a value."""
        (container,) = self.pod(name)["containers"]
        return {item["name"]: item["value"] for item in container["env"] if "value" in item}


def values_file(name: str) -> Path:
    """One of the eight files of values."""
    return ROOT / "deploy" / "helm" / "values" / f"{name}.yaml"


def render(values: str | Path | None = None, settings: Sequence[str] = ()) -> Rendered:
    """Render the chart.

    Args:
        values: the file, or the name of one of the eight.
        settings: what `--set` takes.

    Raises:
        AssertionError: Helm refuses the values.
    """
    done = run_helm("template", values, settings)
    assert done.returncode == 0, done.stderr
    return Rendered(tuple(item for item in yaml.safe_load_all(done.stdout) if item))


def refusal(values: str | Path | None, settings: Sequence[str]) -> str:
    """Helm's words about wrong values."""
    done = run_helm("template", values, settings)
    assert done.returncode != 0, "these values are accepted"
    return done.stderr


def run_helm(
    command: str, values: str | Path | None, settings: Sequence[str] = (), *, chart: Path = CHART
) -> subprocess.CompletedProcess[str]:
    """Run `helm template` or `helm lint` on a chart."""
    file = values_file(values) if isinstance(values, str) else values
    sources = [*(("--values", str(file)) if file else ()), *(word for item in settings for word in ("--set", item))]
    names = ["r", str(chart), "--namespace", NAMESPACE] if command == "template" else [str(chart), "--strict"]
    options = ["--kube-version", KUBERNETES, *sources]
    return subprocess.run([helm(), command, *names, *options], capture_output=True, text=True, check=False)


def notes(values: str, settings: Sequence[str], folder: Path) -> str:
    """The notes of `helm install`. Helm renders them only with a cluster, so a copy of the chart has them as object."""
    chart = shutil.copytree(CHART, folder / "chart")
    (chart / "templates" / "NOTES.txt").rename(chart / "notes.txt")
    template = 'kind: Notes\ntext: |\n  {{- tpl (.Files.Get "notes.txt") . | nindent 2 }}\n'
    (chart / "templates" / "notes.yaml").write_text(template, encoding="utf-8")
    done = run_helm("template", values, settings, chart=chart)
    (found,) = [item for item in yaml.safe_load_all(done.stdout) if item and item["kind"] == "Notes"]
    return str(found["text"])
