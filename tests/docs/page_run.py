"""Runs the blocks of a page in their order, in one folder, with real servers in the place of those of the page."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import chain, repeat
from pathlib import Path
from typing import Any

from magicbyte.platform.broker import free_port
from tests.docs.blocks import ROOT, Block

#: The registry of the pages; a page that starts one there has this in the place of the test's.
REGISTRY = "localhost:8081"
#: Commands of the wheel -> module and function.
_COMMANDS = {"magicbyte": ("magicbyte.cli.main", "main")} | {
    f"kafka-{name}-console-{kind}": ("serdes.console.main", f"{name.replace('-', '_')}_{kind}")
    for name in ("avro", "json-schema", "protobuf")
    for kind in ("producer", "consumer")
}
#: A command whose defaults are the test's servers.
_SCRIPT = """#!{python}
import sys
sys.path[:0] = {paths!r}
import magicbyte.cli.flags, serdes.console.client
magicbyte.cli.flags.add_bootstrap_servers.__kwdefaults__["default"] = {broker!r}
serdes.console.client.DEFAULT_URL = {registry!r}
from {module} import {function}
sys.argv[0] = {name!r}
sys.exit({function}())
"""


@dataclass(frozen=True)
class Servers:
    """The addresses of the test's servers."""

    broker: str
    registry: str
    rest: str

    def put_into(self, text: str) -> str:
        """Return a text with these addresses for those that the pages have."""
        for port, address in ((9092, self.broker), (8081, self.registry), (8082, self.rest)):
            text = re.sub(rf"(localhost|127\.0\.0\.1):{port}\b", address.removeprefix("http://"), text)
        return text


@dataclass
class PageRun:
    """The run of a page.

    Args:
        servers: what its commands talk to.
        folder: where its commands run, and its files are.
        python: the interpreter whose environment has the commands; that of the test has those of the checkout.

    """

    servers: Servers
    folder: Path
    python: Path = Path(sys.executable)
    _names: dict[str, Any] = field(default_factory=dict)
    _ports: dict[str, str] = field(default_factory=dict)
    #: Address -> the process that listens there.
    _background: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        binaries = self.folder / ".bin"
        binaries.mkdir()
        (self.folder / ".variables").touch()
        # In a terminal, curl shows no progress either. If the page shows no answer, an error of HTTP is one here.
        for folder, options in ((self.folder, ""), (binaries, "fail\n")):
            (folder / ".curlrc").write_text(f"silent\nshow-error\n{options}")
        values = {"python": str(self.python), "paths": [str(ROOT)] if self._is_of_the_checkout else []}
        values |= {"broker": self.servers.broker, "registry": self.servers.registry}
        for name, (module, function) in _COMMANDS.items():
            script = binaries / name
            script.write_text(_SCRIPT.format(**values, name=name, module=module, function=function))
            script.chmod(0o755)

    def run(self, block: Block) -> None:
        """Run a block, or write it into its file; raises AssertionError if it does not do what the page says."""
        address, server = block.server
        if address == REGISTRY:
            self.servers = replace(self.servers, registry=f"http://127.0.0.1:{free_port()}")
        text = self.here(block.text)
        if block.setup:
            self._shell(self.here(block.setup), 0, block)
        if server:
            self._start(self.here(server), self.here(address), block)
        if block.file is not None:
            path = self.folder / block.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        elif block.language == "python":
            self._run_python(text, block)
        elif block.language == "console":
            for (command, expected), code in zip(commands(text), chain(block.exit_codes, repeat(0)), strict=False):
                printed = self._shell(command, code, block)
                assert not expected or fits(printed, expected), f"{block.name}: {command}\nprinted:\n{printed}"
        elif block.until:
            self._start(text, self.here(block.until), block)
        else:
            self._shell(text, next(iter(block.exit_codes), 0), block)

    def _run_python(self, text: str, block: Block) -> None:
        if self._is_of_the_checkout:
            # The lines of an error are those of the page.
            exec(compile("\n" * block.line + text, block.page, "exec"), self._names)
        else:
            (self.folder / ".block.py").write_text(text)
            self._shell('"$PYTHON" .block.py', 0, block)

    @property
    def _is_of_the_checkout(self) -> bool:
        return self.python == Path(sys.executable)

    def here(self, text: str) -> str:
        """Return a text of the page with the addresses of this run.

        Servers that a page starts listen on ports from 18000 to 18999; each of them is a free port here. `/home/me` is
        the folder.
        """
        ports = lambda match: self._ports.setdefault(match[0], str(free_port()))  # noqa: E731 - short
        return re.sub(r"\b18\d{3}\b", ports, self.servers.put_into(text)).replace("/home/me", str(self.folder))

    def stop(self) -> None:
        """End what the page has started."""
        for process in self._background.values():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self._background.clear()

    def _start(self, command: str, address: str, block: Block) -> None:
        """Run a command in the background, after the one that had its address, and wait until it listens."""
        before = self._background.pop(address, None)
        if before is not None:
            os.killpg(before.pid, signal.SIGTERM)
            before.wait()
        with (self.folder / f".log-{block.line}").open("wb") as log:
            process = subprocess.Popen(
                ["bash", "-euc", command],
                cwd=self.folder,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._background[address] = process
        host, _, port = address.partition(":")
        while True:
            with socket.socket() as probe:
                if not probe.connect_ex((host, int(port))):
                    return
            told = Path(log.name).read_text(encoding="utf-8", errors="replace")
            assert process.poll() is None, f"{block.name}: {command}\n{told}"
            time.sleep(0.05)

    def _shell(self, commands: str, exit_code: int, block: Block) -> str:
        """Run commands, and return what they print on both outputs."""
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", commands],
            cwd=self.folder,
            env=self._environment() | ({} if block.language == "console" else {"CURL_HOME": f"{self.folder}/.bin"}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == exit_code, f"{block.name}: {commands}\nexit code {done.returncode}\n{done.stdout}"
        return done.stdout

    def _environment(self) -> dict[str, str]:
        return os.environ | {
            "PATH": f"{self.folder / '.bin'}:{os.environ['PATH']}",
            "PYTHON": str(self.python),
            "CHECKOUT": str(ROOT),
            "BASH_ENV": str(self.folder / ".variables"),  # a setup may write it
            "CURL_HOME": str(self.folder),
            "LC_ALL": "C.UTF-8",
            "NO_PROXY": "*",
        }


def commands(text: str) -> Iterator[tuple[str, str]]:
    """Yield each command after a prompt, with its further lines, and the output that the page shows for it."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        lines = part.split("\n")
        count = 1
        while lines[count - 1].endswith("\\") or "\n".join(lines[:count]).count("'") % 2:
            count += 1
        yield "\n".join(lines[:count]), "\n".join(lines[count:]).strip()


def fits(printed: str, expected: str) -> bool:
    """Whether an output is the page's; `...` stands for any text in a line, and alone in a line for any lines."""
    pattern = ""
    for line in expected.splitlines():
        if line.strip() == "...":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += r"[^\n]*".join(re.escape(part) for part in line.rstrip().split("...")) + r"[ \t]*\n"
    return re.fullmatch(pattern, printed.strip() + "\n") is not None
