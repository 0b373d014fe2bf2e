"""`magicbyte generate`: its inputs, what it writes, and `--check`."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from magicbyte.cli.main import main
from magicbyte.testing import running_registry
from registry.app import create_app
from registry.settings import RegistrySettings
from serdes import ProtobufDeserializer, ProtobufSerializer, RegistryClient, SerializationContext
from serdes.client.asgi import AsgiTransport
from serdes.schema import Schema, SchemaReference

EMPLOYEE = {
    "type": "record",
    "name": "Employee",
    "namespace": "com.example",
    "fields": [{"name": "name", "type": "string"}, {"name": "home", "type": "com.other.Address"}],
}
ADDRESS = {
    "type": "record",
    "name": "Address",
    "namespace": "com.other",
    "fields": [{"name": "city", "type": "string", "default": "London"}],
}
PERSON = {"title": "Person", "type": "object", "properties": {"home": {"$ref": "place.schema.json"}}}
PLACE = {"title": "Place", "type": "object", "properties": {"city": {"type": "string"}}}
ORDER = 'syntax = "proto3";\npackage shop;\nimport "shop/money.proto";\nmessage Order { Money total = 1; }\n'
MONEY = 'syntax = "proto3";\npackage shop;\nmessage Money { int64 cents = 1; }\n'


def nested(depth: int) -> str:
    kind = '{"type": "array", "items": ' * depth + '"int"' + "}" * depth
    return json.dumps({**ADDRESS, "fields": [{"name": "x", "type": "KIND"}]}).replace('"KIND"', kind)


Run = Callable[..., tuple[int, list[str], str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the command in a project of its own; returns the exit code, the lines and the error."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "magicbyte.toml").touch()

    def run(*arguments: str) -> tuple[int, list[str], str]:
        code = main(["generate", *arguments])
        out, err = capsys.readouterr()
        return code, out.splitlines(), err.removeprefix("magicbyte: ").strip()

    return run


def write(**files: Any) -> None:
    for name, content in files.items():
        path = Path(name.replace("__", "/").replace("_dot_", "."))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))


def test_files_are_written_once_and_checked(run: Run) -> None:
    write(emp_dot_avsc=EMPLOYEE, sub__address_dot_avsc=ADDRESS)
    assert run("--out", "out", "--check") == (
        1,
        ["+ out/__init__.py: missing", "+ out/com_other.py: missing", "+ out/com_example.py: missing"],
        "",
    )
    assert not Path("out").exists()
    assert run("--out", "out") == (0, ["+ out/__init__.py", "+ out/com_other.py", "+ out/com_example.py"], "")
    before = {path: path.read_bytes() for path in Path("out").iterdir()}
    assert run("--out", "out") == (0, [], "")
    assert run("--out", "out", "--check") == (0, [], "")
    assert {path: path.read_bytes() for path in Path("out").iterdir()} == before
    # Spaces in a schema change nothing.
    Path("emp.avsc").write_text(json.dumps(EMPLOYEE, indent=4))
    assert run("--out", "out", "--check") == (0, [], "")
    write(emp_dot_avsc={**EMPLOYEE, "doc": "x"})
    assert run("--out", "out", "--check") == (1, ["~ out/com_example.py: differs"], "")
    assert run("--out", "out") == (0, ["~ out/com_example.py"], "")


def test_the_command_names_a_module_without_a_schema(run: Run) -> None:
    write(emp_dot_avsc=EMPLOYEE, address_dot_avsc=ADDRESS)
    run("--out", "out")
    expected = ["? out/com_example.py: no schema stands for it"]
    assert run("address.avsc", "--out", "out", "--check") == (1, expected, "")
    assert Path("out/com_example.py").exists()


@pytest.mark.parametrize("text", ["x = 1\n", "from google.protobuf import descriptor as _descriptor\n"])
def test_a_file_of_somebody_else_is_not_overwritten(run: Run, text: str) -> None:
    write(address_dot_avsc=ADDRESS, out__com_other_dot_py=text)
    Path("out/__init__.py").write_text("y = 1\n")
    code, lines, error = run("--out", "out")
    assert (code, lines) == (1, [])
    assert error == "out/com_other.py was not made by `magicbyte generate`: name another --out, or remove it"
    Path("out/com_other.py").unlink()
    assert run("--out", "out") == (0, ["+ out/com_other.py"], "")
    assert Path("out/com_other.py").read_text().startswith('"""Records of namespace com.other.')


def test_the_head_names_sources_with_their_hashes(run: Run) -> None:
    write(emp_dot_avsc=EMPLOYEE, address_dot_avsc=ADDRESS)
    run("--out", "out", "--package", "acme.records")
    assert sorted(str(path) for path in Path("out").rglob("*.py")) == [
        "out/acme/__init__.py",
        "out/acme/records/__init__.py",
        "out/acme/records/com_example.py",
        "out/acme/records/com_other.py",
    ]
    head = Path("out/acme/records/com_example.py").read_text().splitlines()[:7]
    assert head[2] == "Made by `magicbyte generate`; changes are lost. From:"
    assert head[4].startswith("- file emp.avsc, schema sha256:")
    assert len(head[4].rpartition(":")[2]) == 64


@pytest.mark.parametrize(
    ("selection", "modules"),
    [
        (("emp.avsc",), ["com_example", "com_other"]),
        (("sub",), ["com_other"]),
        (("**/*.avsc",), ["com_example", "com_other"]),
        (("sub/*",), ["com_other"]),
        ((), ["com_example", "com_other", "person", "place"]),
        (("person.schema.json",), ["person", "place"]),
    ],
)
def test_names_folders_and_patterns_select_files_and_their_references(
    run: Run, selection: tuple[str, ...], modules: list[str]
) -> None:
    write(emp_dot_avsc=EMPLOYEE, sub__address_dot_avsc=ADDRESS)
    write(person_dot_schema_dot_json=PERSON, place_dot_schema_dot_json=PLACE)
    assert run(*selection, "--out", "out")[0] == 0
    assert sorted(path.stem for path in Path("out").glob("[a-z]*.py")) == modules


@pytest.mark.parametrize(
    ("files", "arguments", "error"),
    [
        ({}, (), "there are no schema files in"),
        ({}, ("nix.avsc",), "nix.avsc:1:1: there is no such file or folder"),
        ({"a.avsc": "{"}, (), "a.avsc:1:2: "),
        ({"a.avsc": json.dumps(EMPLOYEE)}, (), "Nothing defines 'com.other.Address'"),
        ({"a.avsc": '"long"'}, (), "the schema is no record and has none in it"),
        ({"a.schema.json": '{"type": "string"}'}, (), "the schema declares no object"),
        (
            {"a.avsc": json.dumps(ADDRESS), "b.avsc": json.dumps({**ADDRESS, "fields": []})},
            (),
            "com.other.Address differs from the one of file a.avsc",
        ),
        ({"a.proto": 'syntax = "proto3"; message A { B b = 1; }'}, (), "protoc refuses file a.proto"),
        ({"a.avsc": nested(400)}, (), "Nested deeper than 200 levels"),
        ({"a.avsc": json.dumps(ADDRESS)}, ("--package", "a-b"), "--package a-b: a Python package is names"),
        ({}, ("--subject", "a", "--property", "url=http://127.0.0.1:1"), "name the registry"),
    ],
)
def test_the_command_reports_schemas_without_a_possible_class(
    run: Run, files: dict[str, str], arguments: tuple[str, ...], error: str
) -> None:
    for name, text in files.items():
        Path(name).write_text(text)
    code, lines, told = run(*arguments, "--out", "out")
    assert (code, lines) == (1, [])
    assert error in told
    assert not Path("out").exists()


@pytest.mark.slow
def test_subjects_of_a_registry_come_with_their_references(run: Run) -> None:
    with running_registry() as registry, RegistryClient(registry.url) as client:
        client.register("address", Schema(json.dumps(ADDRESS)).text)
        client.register("address", Schema(json.dumps({**ADDRESS, "doc": "Newer."})).text)
        reference = SchemaReference("com.other.Address", "address", 1)
        client.register("employee-value", Schema(json.dumps(EMPLOYEE), "AVRO", [reference]).text)
        client.register("place", Schema(json.dumps(PLACE), "JSON").text)
        named = SchemaReference("place.schema.json", "place", 1)
        client.register("person-value", Schema(json.dumps(PERSON), "JSON", [named]).text)
        source = ("--schema-registry-url", registry.url)
        code, lines, _ = run(
            "--from",
            "registry",
            registry.url,
            "--subject",
            "employee-value",
            "--subject",
            "person-value@1",
            "--out",
            "out",
        )
        assert code == 0
        assert len(lines) == 5
        text = Path("out/com_example.py").read_text()
        assert "- subject employee-value, version 1, schema sha256:" in text
        assert "Newer." not in Path("out/com_other.py").read_text()
        assert '("place.schema.json", "place", 1),' in Path("out/person_value.py").read_text()
        assert run(*source, "--subject", "nobody", "--out", "out")[0] == 1


def test_protoc_makes_the_modules_of_protobuf(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(shop__order_dot_proto=ORDER, shop__money_dot_proto=MONEY)
    assert run("--out", "out", "--package", "generated_shop") == (
        0,
        [
            f"+ out/generated_shop/{name}"
            for name in ("shop/money_pb2.py", "shop/money_pb2.pyi", "shop/order_pb2.py", "shop/order_pb2.pyi")
        ]
        + ["+ out/generated_shop/__init__.py"],
        "",
    )
    assert run("--out", "out", "--package", "generated_shop", "--check") == (0, [], "")
    monkeypatch.syspath_prepend(str(tmp_path / "out"))
    module: Any = importlib.import_module("generated_shop.shop.order_pb2")
    order = module.Order()
    order.total.cents = 5
    transport = AsgiTransport(create_app(RegistrySettings.from_properties({"magicbyte.storage": "memory:"})))
    with RegistryClient("http://registry", transport=transport) as client:
        context = SerializationContext("orders", "value")
        written = ProtobufSerializer(module.Order, client)(order, context)
        assert ProtobufDeserializer(module.Order, {}, client)(written, context) == order
    transport.close()


def test_the_error_about_a_missing_extra_has_its_install_command(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    write(a_dot_proto=MONEY)
    monkeypatch.setattr("magicbyte.kit.extras._is_installed", lambda name: name != "grpc_tools")
    code, _, error = run("--out", "out")
    assert code == 1
    assert "needs the extra `generate`" in error
    assert "install" in error


def test_paths_of_imports_cannot_lead_out_of_the_folder() -> None:
    from compat.schema import Dependency  # noqa: PLC0415
    from magicbyte.generate.model import Source  # noqa: PLC0415
    from magicbyte.generate.protobuf import protobuf_files  # noqa: PLC0415
    from magicbyte.kit.failure import Failure  # noqa: PLC0415

    for path in ("../x.proto", "/x.proto", "--plugin=x", "a/../../x.proto", "@x", ""):
        needed = (Dependency(path, MONEY),)
        with pytest.raises(Failure, match=r"no path of a \.proto file"):
            protobuf_files([Source("PROTOBUF", MONEY, needed, "file a", "a", "a.proto")])


@pytest.mark.slow
def test_mypy_accepts_the_generated_code(run: Run, tmp_path: Path) -> None:
    from tests.serdes.records.test_avro_records import EVERYTHING  # noqa: PLC0415
    from tests.serdes.records.test_json_records import PERSON as OBJECT  # noqa: PLC0415

    write(a_dot_avsc=EVERYTHING, b_dot_schema_dot_json=OBJECT, c_dot_avsc=hostile())
    for style in ("mutable", "frozen"):
        assert run("--out", style, "--style", style)[0] == 0
    program = Path("program.py")
    program.write_text(
        "from mutable.b import Person, PersonPetCat\n"
        "from mutable.com_example import Everything\n"
        "def name(of: Everything) -> str:\n    return of.text\n"
        'reveal_type(Person(id=1, kind="person", pet=PersonPetCat(type="cat")).class_)\n'
        'Person(id="x", kind="person", pet=PersonPetCat(type="cat"))\n'
    )
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache")]
    root = Path(__file__).parents[2]
    run_of_mypy = subprocess.run(
        [*command, "mutable", "frozen", "program.py"],
        capture_output=True,
        text=True,
        check=False,
        env={"MYPYPATH": str(root), "PATH": ""},
    )
    lines = [line for line in run_of_mypy.stdout.splitlines() if ": error:" in line or ": note:" in line]
    assert [line.partition(":")[0] for line in lines] == ["program.py", "program.py"], run_of_mypy.stdout
    assert 'Revealed type is "str | serdes.records.values.Unset | None"' in lines[0]
    assert 'Argument "id" to "Person" has incompatible type "str"; expected "int"' in lines[1]


def hostile() -> dict[str, Any]:
    names = (
        "class",
        "self",
        "None",
        "__init__",
        "__x",
        "int",
        "str",
        "field",
        "dataclass",
        "datetime",
        "Branch",
        "Hostile",
    )
    fields: list[dict[str, Any]] = [{"name": name, "type": "string", "default": '"""\\'} for name in names]
    fields += [
        {"name": "me", "type": ["null", "Hostile"], "default": None},
        {"name": "union", "type": ["int", "long", "float", "double"], "default": 5},
        {"name": "when", "type": {"type": "long", "logicalType": "timestamp-millis"}, "default": 5},
        {
            "name": "suit",
            "type": {"type": "enum", "name": "Suit", "symbols": ["mro", "name", "value", "class", "_x_", "count"]},
            "default": "mro",
        },
    ]
    doc = '"""\\\n\'\'\'\0\u202e"'
    return {"type": "record", "name": "Hostile", "namespace": "import.class", "doc": doc, "fields": fields}
