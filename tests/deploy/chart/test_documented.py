"""The Helm commands and values of docs/kubernetes.md; what needs a cluster is rendered instead of installed."""

from __future__ import annotations

import re
import shlex
import subprocess

import pytest
import yaml

from tests.deploy.chart.helm import helm
from tests.deploy.chart.rendering import KUBERNETES, ROOT, render

pytestmark = pytest.mark.chart

PAGE = (ROOT / "docs" / "kubernetes.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^ {4}(?:\$ )?(helm .*)$", PAGE, re.MULTILINE)
BLOCKS = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
#: What a command about a release says -> what renders the same.
RENDERED_AS = {
    "install": "template",
    "upgrade": "template",
    "--reset-then-reuse-values": "--set=kafka.bootstrapServers=kafka:9092",
}


@pytest.mark.parametrize("command", [command for command in COMMANDS if "uninstall" not in command])
def test_a_command_of_the_page(command: str) -> None:
    _, *words = (RENDERED_AS.get(word, word) for word in shlex.split(command))
    options = ["--kube-version", KUBERNETES] if words[0] == "template" else []

    done = subprocess.run([helm(), *words, *options], cwd=ROOT, capture_output=True, text=True, check=False)

    _, _, shown = PAGE.partition(f"$ {command}\n")
    block = re.match(r"(?: {4}.*\n)*", shown)
    output = block[0].replace("    ", "", 1).replace("\n    ", "\n") if block and shown else ""
    if output:
        assert done.stderr.strip() == output.strip()
    else:
        assert done.returncode == 0, done.stderr


def test_the_page_has_commands() -> None:
    assert len(COMMANDS) == 4
    assert len(BLOCKS) == 2


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_values_of_the_page(number: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    file = tmp_path_factory.mktemp("values") / "values.yaml"
    kafka = {"kafka": {"bootstrapServers": "kafka:9092"}}
    file.write_text(yaml.safe_dump(yaml.safe_load(BLOCKS[number]) | kafka), encoding="utf-8")

    assert render(file).all("StatefulSet")
