"""Runs an unpacked image as a container engine would: its user, a read-only root, and its command as process 1."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

USER = 65532


class Container:
    """A running container; it shares this machine's network."""

    def __init__(
        self, root: Path, config: Mapping[str, Any], state: Path, *, variables: Mapping[str, str], log: Path
    ) -> None:
        """Start the image's command.

        Args:
            root: The image's files.
            config: Its config.
            state: An empty folder for the volume /var/lib/magicbyte.
            variables: Further variables.
            log: The file for its output.
        """
        self._environment = {**dict(line.split("=", 1) for line in config["Env"]), **variables}
        state.mkdir()
        os.chown(state, USER, USER)
        reading, writing = os.pipe()
        identity = [f"--reuid={USER}", f"--regid={USER}", "--clear-groups"]
        user = ["--unshare-user", "--uid", str(USER), "--gid", str(USER)]
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                [
                    *("setpriv", *identity, "bwrap", "--ro-bind", str(root), "/", "--proc", "/proc", "--dev", "/dev"),
                    *("--tmpfs", "/tmp", "--bind", str(state), "/var/lib/magicbyte", *user, "--unshare-pid"),  # noqa: S108  the container's
                    *("--as-pid-1", "--die-with-parent", "--new-session", "--info-fd", str(writing)),
                    *("--chdir", config["WorkingDir"], "--", *config["Entrypoint"], *config["Cmd"]),
                ],
                env=self._environment,
                pass_fds=[writing],
                stdout=output,
                stderr=output,
            )
        os.close(writing)
        with open(reading) as pipe:  # noqa: PTH123  a descriptor
            self._first = int(json.loads(pipe.read())["child-pid"])

    @property
    def is_running(self) -> bool:
        """Whether the command has not ended."""
        return self._process.poll() is None

    def run(self, command: Sequence[str]) -> subprocess.CompletedProcess[str]:
        """Run a command inside, as `docker exec` and health checks do."""
        enter = ["nsenter", "--target", str(self._first), "--user", "--mount", "--pid"]
        enter += ["--setuid", str(USER), "--setgid", str(USER), "--"]
        return subprocess.run(
            [*enter, *command], env=self._environment, capture_output=True, text=True, check=False, timeout=60
        )

    def stop(self) -> tuple[int, float]:
        """Send SIGTERM; returns the exit code, and the seconds until the end."""
        began = time.monotonic()
        os.kill(self._first, signal.SIGTERM)
        return self._process.wait(30), time.monotonic() - began

    def kill(self) -> None:
        """End it at once, if it still runs."""
        if self.is_running:
            self._process.kill()
            self._process.wait(30)
