"""`magicbyte.ui.pipelines`: which metrics ports it names, and what it refuses."""

from __future__ import annotations

import subprocess
import sys

import pytest

from magicbyte.http.metrics_ports import MetricsPort
from magicbyte.http.page_settings import PageSettings
from magicbyte.kit.settings.place import FindingsError

NAME = "magicbyte.ui.pipelines"


@pytest.mark.parametrize(
    ("text", "ports"),
    [
        ("", ()),
        ("http://127.0.0.1:9109", (MetricsPort("http://127.0.0.1:9109"),)),
        ("http://127.0.0.1:9109/", (MetricsPort("http://127.0.0.1:9109"),)),
        ("http://127.0.0.1:9109/metrics", (MetricsPort("http://127.0.0.1:9109"),)),
        ("https://lake.example/flights/metrics/", (MetricsPort("https://lake.example/flights"),)),
        ("http://[::1]:9109", (MetricsPort("http://[::1]:9109"),)),
        (
            "flights=http://lake:9109, http://lake:9110 ,",
            (MetricsPort("http://lake:9109", "flights"), MetricsPort("http://lake:9110")),
        ),
    ],
)
def test_the_setting_names_ports(text: str, ports: tuple[MetricsPort, ...]) -> None:
    assert PageSettings.from_properties({NAME: text}).pipeline_ports == ports


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("lake:9109", "'lake:9109' is not the http URL of a metrics port; write it as http://127.0.0.1:9109"),
        ("ftp://lake:9109", "'ftp://lake:9109' is not the http URL of a metrics port"),
        ("http://:9109", "'http://:9109' is not the http URL of a metrics port"),
        ("http://lake:0", "'http://lake:0' is not the http URL of a metrics port"),
        ("http://lake:99999", "'http://lake:99999' is not the http URL of a metrics port"),
        ("http://lake:9109/?a=b", "'http://lake:9109/?a=b' is not the http URL of a metrics port"),
        ("http://la ke:9109", "'http://la ke:9109' is not the http URL of a metrics port"),
        ("http://[::1:9109", "'http://[::1:9109' is not the http URL of a metrics port"),
        ("http://me:secret@lake:9109", "the URL of a metrics port must not contain a user name or password"),
        ("Flights=http://lake:9109", "'Flights' is no pipeline's name; it has 1 to 60 letters a-z, digits and `-`"),
        ("=http://lake:9109", "'' is no pipeline's name"),
        ("http://lake:9109,http://lake:9109/metrics", "http://lake:9109 is named twice"),
        ("a=http://lake:9109,a=http://lake:9110", "a is named twice"),
        (",".join(f"http://lake:{port}" for port in range(1, 102)), "at most 100 metrics ports; there are 101"),
    ],
)
def test_a_wrong_setting_is_refused(text: str, problem: str) -> None:
    with pytest.raises(FindingsError) as refusal:
        PageSettings.from_properties({NAME: text})
    assert f"{NAME}: {problem}" in str(refusal.value)
    assert "secret" not in str(refusal.value)


@pytest.mark.parametrize("command", ["ui --schema-registry-url http://localhost:1", "up", "registry --storage memory:"])
def test_the_commands_refuse_it_at_the_start(command: str) -> None:
    words = [sys.executable, "-P", "-m", "magicbyte.cli.main", *command.split(), "--pipelines", "lake:9109"]
    run = subprocess.run(words, check=False, capture_output=True, text=True, timeout=60)
    assert run.returncode == 2
    assert "--pipelines: 'lake:9109' is not the http URL of a metrics port" in run.stderr
    assert "Traceback" not in run.stderr
