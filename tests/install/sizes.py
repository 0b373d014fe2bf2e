"""The cost of an install: distributions, megabytes, and the seconds that its commands take to start.

    python -P tests/install/sizes.py [--before cf67240] [--repeats 7] [--folder DIR]

Makes fresh environments from this tree, and from another commit, each with the versions of its own requirements.lock;
measures the commands in turn and prints medians. Needs the network, and a gigabyte for each full environment.
"""

from __future__ import annotations

import argparse
import io
import re
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from magicbyte.platform.broker import free_port

ROOT = Path(__file__).parents[2]

#: Title -> the command; {bin} is the environment's folder of commands.
COMMANDS = {
    "`import serdes`": ("{bin}/python", "-c", "import serdes"),
    "`magicbyte --help`": ("{bin}/magicbyte", "--help"),
    "`kafka-avro-console-producer --help`": ("{bin}/kafka-avro-console-producer", "--help"),
}


@dataclass(frozen=True, slots=True)
class Environment:
    """An environment to measure: its name, the extras it has, and its folder."""

    name: str
    extras: str
    folder: Path

    @property
    def bin(self) -> Path:
        """The folder of its commands."""
        return self.folder / "bin"

    def install(self, source: Path) -> None:
        """Make it from a source tree, with the versions of the tree's lock file, unless it is there."""
        if self.bin.exists():
            return
        locked = re.findall(r"^[\w.-]+==[^\\\n]+", (source / "requirements.lock").read_text("utf-8"), re.MULTILINE)
        constraints = self.folder.with_suffix(".txt")
        constraints.write_text("\n".join(locked), encoding="utf-8")
        uv = Path(sys.executable).with_name("uv")
        subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, self.folder], check=True)
        options: list[str | Path] = [
            "--quiet",
            "--python",
            self.bin / "python",
            "--constraints",
            constraints,
            "--link-mode",
            "copy",
        ]
        subprocess.run([uv, "pip", "install", *options, f"magicbyte{self.extras} @ {source.as_uri()}"], check=True)

    def size(self) -> str:
        """The number of its distributions, and its megabytes on the disk."""
        files = [file for file in self.folder.rglob("*") if file.is_file() and not file.is_symlink()]
        distributions = sum(1 for _ in self.folder.rglob("*.dist-info"))
        return f"{distributions} distributions, {sum(file.stat().st_size for file in files) / 1e6:.0f} MB"


def seconds_of(command: list[str]) -> float:
    """Seconds until a command has ended."""
    began = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - began


def seconds_to_answer(binaries: Path) -> float:
    """Seconds until a registry in memory answers its first request."""
    address = f"127.0.0.1:{free_port()}"
    command: list[str | Path] = [binaries / "magicbyte", "registry", "--storage", "memory:", "--listen", address]
    began = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as registry:
        while True:
            try:
                urllib.request.urlopen(f"http://{address}/subjects", timeout=60).read()
                break
            except OSError:
                time.sleep(0.005)
        taken = time.perf_counter() - began
        registry.terminate()
    return taken


def measure(environments: list[Environment], repeats: int) -> None:
    """Print the sizes and the medians."""
    for environment in environments:
        print(f"{environment.name}: {environment.size()}", flush=True)
    taken: dict[tuple[str, str], list[float]] = {}
    for number in range(repeats + 1):
        for environment in environments:
            times = {
                title: seconds_of([part.format(bin=environment.bin) for part in command])
                for title, command in COMMANDS.items()
            }
            if not environment.name.endswith("slim"):
                times["registry in memory, until it answers"] = seconds_to_answer(environment.bin)
            for title, seconds in times.items() if number else ():  # the first time writes bytecode
                taken.setdefault((title, environment.name), []).append(seconds)
    for (title, name), repeated in taken.items():
        print(f"{name}: {title}: {statistics.median(repeated):.3f} s")


def main() -> None:
    """Run with the command's options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", help="a commit to compare with")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--folder", type=Path, help="keeps the environments, for a later run")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        work = options.folder or Path(scratch)
        environments = [
            Environment("slim", "", work / "slim"),
            Environment("server", "[server]", work / "server"),
            Environment("full", "[all]", work / "full"),
        ]
        for environment in environments:
            environment.install(ROOT)
        if options.before:
            command = ["git", "archive", options.before]
            archive = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout
            with tarfile.open(fileobj=io.BytesIO(archive)) as files:
                files.extractall(work / "source", filter="data")
            earlier = Environment("before", "", work / "before")
            full = Environment("before, full", "[spark,postgresql,java,demo]", work / "before-full")
            for environment in (earlier, full):
                environment.install(work / "source")
            environments += [earlier, full]
        measure(environments, options.repeats)


if __name__ == "__main__":
    main()
