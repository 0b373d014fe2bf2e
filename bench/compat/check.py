"""Times `magicbyte check` beside bare Python's start in the same run.

    python -P bench/compat/check.py

With buf on the PATH (npm's @bufbuild/buf), `buf breaking` is timed on the same tree of Protobuf files.

Times are processor times of whole processes, user and system, the least of the rounds, so that what else the machine
does weighs little; the wall-clock times beside them are what a person waits. Goals: --help at most 100 ms more than
Python, one file at most 200 ms more, 1,000 files with references within 5 s, and 10,000 files of which 10 have changed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

ROUNDS = 7
MAGICBYTE = [sys.executable, "-P", "-m", "magicbyte.cli.main"]
FILES = 1000
MANY_FILES = 10_000

AVRO = """{{"type": "record", "name": "Event{n}", "namespace": "shop", "fields": [
  {{"name": "id", "type": "long"}},
  {{"name": "kind", "type": {{"type": "enum", "name": "Kind{n}", "symbols": ["A", "B"]}}}},
  {{"name": "tags", "type": {{"type": "array", "items": "string"}}}},
  {{"name": "part", "type": "shop.Part{part}"}}{more}
]}}
"""
AVRO_PART = '{{"type": "record", "name": "shop.Part{n}", "fields": [{{"name": "x", "type": "double"}}]}}\n'
JSON = """{{"type": "object", "properties": {{
  "id": {{"type": "integer"}}, "part": {{"$ref": "json-part{part}.schema.json"}}{more}
}}, "required": ["id"], "additionalProperties": false}}
"""
JSON_PART = '{{"title": "Part{n}", "type": "string", "maxLength": 20}}\n'
PROTO = """syntax = "proto3";
package shop.event{n};
import "proto/proto-part{part}.proto";
message Event {{
  int64 id = 1;
  repeated string tags = 2;
  shop.parts.Part{part} part = 3;{more}
}}
"""
PROTO_PART = 'syntax = "proto3";\npackage shop.parts;\nmessage Part{n} {{\n  double x = 1;\n}}\n'


def write(folder: Path, *, more: bool, count: int = FILES) -> None:
    """A third of the files of each type; of ten files one is what the nine others refer to."""
    added = {
        "avro": ',\n  {"name": "more", "type": "string", "default": ""}',
        "json": ',\n  "more": {"type": "string"}',
        "proto": "\n  string more = 4;",
    }
    forms = {
        "avro": (AVRO, AVRO_PART, "avsc"),
        "json": (JSON, JSON_PART, "schema.json"),
        "proto": (PROTO, PROTO_PART, "proto"),
    }
    for name, (text, part, ending) in forms.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        for n in range(count // 3 + (name == "avro")):
            if n % 10 == 0:
                (folder / name / f"{name}-part{n}.{ending}").write_text(part.format(n=n))
            else:
                shown = text.format(n=n, part=n - n % 10, more=added[name] if more else "")
                (folder / name / f"{name}-event{n}.{ending}").write_text(shown)


def commit(folder: Path) -> None:
    """Make a git repository of a folder, with one commit."""
    identity = ["-c", "user.name=bench", "-c", "user.email=bench@example.com"]
    for arguments in (["init", "-q", "-b", "main"], ["add", "-A"], [*identity, "commit", "-q", "-m", "all"]):
        subprocess.run(["git", *arguments], cwd=folder, check=True)


def change_ten(folder: Path) -> None:
    """Change ten files in ways that break nobody."""
    for n in range(1, 11):
        file = folder / "proto" / f"proto-event{n if n < 10 else 11}.proto"
        file.write_text(file.read_text().replace("int64 id = 1;", "int64 id = 1;\n  bool seen = 5;"))


def run(command: Sequence[str], folder: Path, expected: int = 0) -> tuple[float, float]:
    """Processor and wall-clock seconds of a process."""
    started = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == expected, process.returncode
    return usage.ru_utime + usage.ru_stime, wall


def least(command: Sequence[str], folder: Path, rounds: int = ROUNDS) -> tuple[float, float]:
    cpu, wall = zip(*(run(command, folder) for _ in range(rounds)), strict=True)
    return min(cpu), min(wall)


def beside_buf(many: Path, folder: Path, tell: Callable[[str, float, float, float], None]) -> None:
    """Time both commands on the Protobuf files alone."""
    shutil.copytree(many / "proto", folder / "proto")
    (folder / "buf.yaml").write_text("version: v2\nbreaking:\n  use: [WIRE]\n")
    commit(folder)
    file = folder / "proto" / "proto-event1.proto"
    file.write_text(file.read_text().replace("int64 id = 1;", "string id = 1;"))
    count = sum(path.suffix == ".proto" for path in folder.rglob("*"))
    for name, command in {
        "check": [*MAGICBYTE, "check"],
        "buf breaking": ["buf", "breaking", "--against", ".git#branch=main"],
    }.items():
        rounds = [run(command, folder, expected=100) for _ in range(3)]
        tell(f"{name} of {count} Protobuf files", *map(min, zip(*rounds, strict=True)), 5000)


def main() -> int:
    python, python_wall = least([sys.executable, "-c", "pass"], Path.cwd())
    print(f"{'':34}{'cpu ms':>8}{'wall ms':>9}{'more':>7}{'ratio':>8}   goal")
    print(f"{'python -c pass':34}{python * 1e3:8.0f}{python_wall * 1e3:9.0f}")
    missed = False

    def tell(name: str, seconds: float, wall: float, goal: float) -> None:
        nonlocal missed
        more = (seconds - python) * 1e3
        missed |= more > goal
        print(
            f"{name:34}{seconds * 1e3:8.0f}{wall * 1e3:9.0f}{more:7.0f}{seconds / python:8.1f}"
            f"   at most {goal:.0f} ms more{'' if more <= goal else ': MISSED'}"
        )

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        old, new = folder / "old", folder / "new"
        for name in ("--help", "check --help"):
            tell(f"magicbyte {name}", *least([*MAGICBYTE, *name.split()], folder), 100)
        write(old, more=False)
        write(new, more=True)
        for file in ("avro/avro-event1.avsc", "json/json-event1.schema.json", "proto/proto-event1.proto"):
            alone = folder / "alone"
            for side in (old, new):
                target = alone / side.name / file
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text((side / file).read_text())
                (part,) = (side / file).parent.glob("*-part0.*")
                (target.parent / part.name).write_text(part.read_text())
            command = [*MAGICBYTE, "check", file, "--against", "../old"]
            tell(f"check {file}", *least(command, alone / "new"), 200)
            shutil.rmtree(alone)
        count = sum(path.is_file() for path in new.rglob("*"))
        seconds, wall = least([*MAGICBYTE, "check", "--against", "../old"], new, 3)
        tell(f"check of {count} files, 900 changed", seconds, wall, 5000)
        commit(new)
        tell("the same against git, unchanged", *least([*MAGICBYTE, "check"], new, 3), 5000)
        many = folder / "many"
        write(many, more=False, count=MANY_FILES)
        commit(many)
        change_ten(many)
        tell(f"{MANY_FILES:,} files against git, 10 changed", *least([*MAGICBYTE, "check"], many, 3), 5000)
        if shutil.which("buf") is not None:
            beside_buf(many, folder / "protos", tell)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
