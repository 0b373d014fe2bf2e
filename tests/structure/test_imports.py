from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("compat", "magicbyte", "registry", "rest_proxy", "serdes", "spark_avro")

#: Package -> the packages of ours that it may know.
KNOWS = {
    "compat": set(),
    "registry": {"compat", "magicbyte"},
    "serdes": {"compat", "magicbyte"},
    "rest_proxy": {"compat", "serdes", "magicbyte"},
    "spark_avro": {"compat", "serdes", "magicbyte"},
    "magicbyte": set(),
    "magicbyte.cli": set(PACKAGES),
    "magicbyte.ui": {"compat", "serdes", "magicbyte"},
    "magicbyte.testing": set(PACKAGES),
}

#: Packages that know no HTTP, not even through what they import.
WITHOUT_HTTP = ("compat", "registry/decide")
HTTP = ("magicbyte.http", "registry.http", "fastapi", "starlette", "httpx")

#: Library -> the files and folders that may import it.
FENCES = {
    "fastapi": """
        magicbyte/http/ registry/http/ registry/app.py rest_proxy/v3/ rest_proxy/app.py magicbyte/ui/server.py
    """,
    "starlette": """
        magicbyte/http/ registry/http/ registry/app.py registry/cluster/forward.py
        rest_proxy/exchange/ rest_proxy/http/ rest_proxy/v3/ rest_proxy/app.py magicbyte/ui/
    """,
    "confluent_kafka": """
        magicbyte/kit/kafka/client_settings.py magicbyte/platform/broker/ magicbyte/cli/ magicbyte/testing/
        registry/cluster/lead/election.py registry/cluster/lead/group.py
        registry/log/kafka.py registry/log/kafka_writer.py registry/log/reader.py registry/log/topic.py
        registry/log/topic_end.py
        rest_proxy/produce/lane.py rest_proxy/produce/sent.py rest_proxy/errors.py
        rest_proxy/consume/consumers/consumer.py rest_proxy/consume/consumers/asker.py
        rest_proxy/start/client_check.py
        serdes/console/ spark_avro/pipeline/
    """,
    "kio": "rest_proxy/admin/connection/protocol.py",
    "aiokafka": """
        rest_proxy/admin/connection/brokers.py rest_proxy/admin/connection/tokens.py
        rest_proxy/consume/stateless/fetch_connections.py rest_proxy/consume/stateless/fetched.py
    """,
    "sqlalchemy": "registry/log/sql.py spark_avro/",
    "pyspark": "spark_avro/ magicbyte/cli/",
}


def files() -> list[Path]:
    return [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def owner(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    qualified = ".".join(parts[:2])
    return qualified if qualified in KNOWS else parts[0]


@pytest.mark.parametrize("path", files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_imports_only_what_its_package_may_know(path: Path) -> None:
    package = path.relative_to(ROOT).parts[0]
    allowed = KNOWS[owner(path)] | {package}
    ours = {name.partition(".")[0] for name in imports(path)} & set(PACKAGES)
    assert ours <= allowed


@pytest.mark.parametrize("path", files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_library_is_imported_only_behind_its_fence(path: Path) -> None:
    relative = str(path.relative_to(ROOT))
    used = {name.partition(".")[0] for name in imports(path)} & set(FENCES)
    assert {library for library in used if not relative.startswith(tuple(FENCES[library].split()))} == set()


def imported_by(path: Path) -> set[str]:
    """The modules that a file's import brings in: named in it, in other files of ours that it names, and so on."""
    waiting, seen = [path], set[Path]()
    modules = set[str]()
    while waiting:
        file = waiting.pop()
        if file in seen:
            continue
        seen.add(file)
        for name in imports(file):
            modules.add(name)
            target = ROOT / name.replace(".", "/")
            waiting += [found for found in (target.with_suffix(".py"), target / "__init__.py") if found.exists()]
    return modules


@pytest.mark.parametrize("folder", WITHOUT_HTTP)
def test_a_package_without_http_does_not_even_import_what_knows_it(folder: str) -> None:
    for path in sorted((ROOT / folder).rglob("*.py")):
        known = {name for name in imported_by(path) if f"{name}.".startswith(tuple(f"{http}." for http in HTTP))}
        assert known == set(), path


#: What is done in one place -> the files and folders that may mention it.
PLACES = {
    # The text forms of values.
    "json_to_avro": "serdes/codec/ serdes/text/",
    "avro_to_json": "serdes/codec/ serdes/text/ spark_avro/workers/decoding.py",
    # compat knows nothing of serdes, and shows small messages of its own making.
    "MessageToDict": "serdes/text/ compat/protobuf/witness/reception.py",
    "ParseDict": "serdes/text/",
    # Rules for clients are refused at the seam alone; the proxy words the refusal anew.
    "RulesNotSupported(": "serdes/rules/seam.py serdes/error.py rest_proxy/formats/schemas.py",
}


@pytest.mark.parametrize("words", PLACES)
def test_one_thing_is_done_in_one_place(words: str) -> None:
    mentioning = [str(path.relative_to(ROOT)) for path in files() if words in path.read_text(encoding="utf-8")]
    assert mentioning
    assert [path for path in mentioning if not path.startswith(tuple(PLACES[words].split()))] == []
