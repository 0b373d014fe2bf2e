"""Runs a rendered pod as the kubelet would: the container's args, variables and mounted files, and its probes.

A folder stands for the container's root, so absolute paths begin with it. Names in the cluster's DNS do not resolve.
"""

from __future__ import annotations

import os
import re
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import magicbyte
from magicbyte.kit.processes import process
from tests.deploy.chart.rendering import Rendered

#: Of a Secret or ConfigMap: its name, and the texts of its keys.
Contents = Mapping[str, Mapping[str, bytes]]

#: The beginnings of the container's own paths in texts.
_OWN_PATH = re.compile(r"(?<![\w.])/(?:etc/magicbyte|var/lib/magicbyte|tmp)(?=/|$)", re.MULTILINE)


class Pod:
    """The first pod of a StatefulSet; started by `start`, and probed as its spec says."""

    def __init__(self, release: Rendered, name: str, contents: Contents, folder: Path) -> None:
        """Lay out the root.

        Args:
            release: what the chart renders.
            name: the StatefulSet.
            contents: the Secrets and ConfigMaps of the namespace that are not the chart's.
            folder: an empty folder.
        """
        self.name = f"{name}-0"
        self.spec = release.pod(name)
        (self.container,) = self.spec["containers"]
        self._root = folder
        own = {item["metadata"]["name"]: item["data"] for item in release.all("ConfigMap")}
        texts = {title: {key: text.encode() for key, text in data.items()} for title, data in own.items()}
        # A Secret may be called as a ConfigMap of the chart.
        self._contents = {"secret": contents, "configMap": {**contents, **texts}}
        volumes = {volume["name"]: volume for volume in self.spec["volumes"]}
        for mount in self.container["volumeMounts"]:
            place = self._inside(mount["mountPath"])
            if mount["name"] == "data":
                place.mkdir(parents=True)
            else:
                self._mount(volumes[mount["name"]], place)
        self._log = folder / "log"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the container; returns when the startup probe and then the readiness probe have succeeded.

        Raises:
            AssertionError: The process ended, or a probe did not succeed in time.
        """
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(magicbyte.__file__).parents[1])}
        for item in self.container["env"]:
            text = item.get("value", self.name)
            known = re.sub(r"\$\((\w+)\)", lambda match: environment[match[1]], text)
            environment[item["name"]] = self._rooted(known)
        command = [sys.executable, "-m", "magicbyte.cli.main", *map(self._rooted, self.container["args"])]
        with self._log.open("wb") as log:
            self._process = process.start(command, log=log.fileno(), environment=environment)
        probe = self.container["startupProbe"]
        self._await("startupProbe", probe["periodSeconds"] * probe["failureThreshold"])
        self._await("readinessProbe", 60)

    def _await(self, kind: str, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while self.probe(kind) is None:
            assert self._process is not None
            assert self._process.poll() is None, self.log()
            assert time.monotonic() < deadline, self.log()
            time.sleep(0.05)

    def probe(self, kind: str) -> int | None:
        """Ask a probe of the spec as the kubelet does; the status of a success, else None."""
        asked = self.container[kind]["httpGet"]
        (port,) = [port["containerPort"] for port in self.container["ports"] if port["name"] == asked["port"]]
        url = f"{asked['scheme'].lower()}://127.0.0.1:{port}{asked['path']}"
        try:
            return self.get(url, seconds=self.container[kind]["timeoutSeconds"])
        except urllib.error.HTTPError as error:
            error.close()
            return None
        except OSError:
            return None

    def get(self, url: str, *, seconds: float = 10) -> int:
        """The status of a request that trusts every certificate and has none, as those of the kubelet.

        Raises:
            HTTPError, OSError: There is no answer, or an error.
        """
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        with urllib.request.urlopen(url, timeout=seconds, context=context) as answer:
            return int(answer.status)

    def stop(self) -> int | None:
        """SIGTERM, and SIGKILL after the grace period without the sleep of preStop; the exit code."""
        grace = self.spec["terminationGracePeriodSeconds"] - self.container["lifecycle"]["preStop"]["sleep"]["seconds"]
        return None if self._process is None else process.stop(self._process, seconds=grace)

    def log(self) -> str:
        """The output that the container has written."""
        return self._log.read_text(encoding="utf-8", errors="replace") if self._log.exists() else ""

    def _mount(self, volume: Any, place: Path) -> None:
        """A volume as the kubelet lays it out: links to a folder whose name changes with each update."""
        place.mkdir(parents=True)
        place.chmod(0o3777)
        data = place / "..2026_11_27"
        data.mkdir()
        (place / "..data").symlink_to(data.name)
        for path, content in self._files(volume).items():
            (data / path).write_bytes(content)
            # With fsGroup, the group can read all files.
            (data / path).chmod(volume.get("projected", {}).get("defaultMode", 0o644) | 0o040)
            (place / path).symlink_to(Path("..data", path))

    def _files(self, volume: Any) -> dict[str, bytes]:
        if "configMap" in volume:
            name = volume["configMap"]["name"]
            texts = self._contents["configMap"][name]
            return {key: self._rooted(text.decode()).encode() for key, text in texts.items()}
        files: dict[str, bytes] = {}
        for source in volume.get("projected", {}).get("sources", ()):
            ((kind, taken),) = source.items()
            files |= {item["path"]: self._contents[kind][taken["name"]][item["key"]] for item in taken["items"]}
        return files

    def _inside(self, path: str) -> Path:
        return self._root / path.lstrip("/")

    def _rooted(self, text: str) -> str:
        """A text whose absolute paths in the container begin with the folder that stands for its root."""
        return _OWN_PATH.sub(lambda match: str(self._inside(match[0])), text)
