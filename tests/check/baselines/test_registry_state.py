"""register, download, set-compatibility, plan and apply, against a real registry."""

from __future__ import annotations

import json
from typing import Any

import pytest

from compat.schema import AVRO, Reference, SchemaText
from serdes.client.clients import RegistryClient
from serdes.error import RegistryError

ADDRESS = '{"type": "record", "name": "Address", "fields": [\n  {"name": "zip", "type": "int"}\n]}\n'
CUSTOMER = '{"type": "record", "name": "Customer", "fields": [{"name": "address", "type": "Address"}]}'
MONEY = 'syntax = "proto3"; package shop; message Money { int64 units = 1; }'
ORDER = 'syntax = "proto3"; package shop; import "money.proto"; message Order { Money total = 1; }'
FORM = '{"properties": {"address": {"$ref": "address.schema.json"}}}'

REFERENCE = Reference("Address", "address", 1)


@pytest.fixture
def shop(project: Any, own_registry: str) -> Any:
    project.write(
        "magicbyte.toml",
        f'registry = "{own_registry}"\nfiles = ["customer.avsc", "form.schema.json", "*.proto"]\n'
        '[[subjects]]\nfile = "address.avsc"\ncompatibility = "FULL"\n'
        '[[subjects]]\nfile = "address.schema.json"\nsubject = "address-json"\n',
    )
    project.write("address.avsc", ADDRESS)
    project.write("customer.avsc", CUSTOMER)
    project.write("money.proto", MONEY)
    project.write("order.proto", ORDER)
    project.write("form.schema.json", FORM)
    project.write("address.schema.json", '{"type": "string"}')
    return project


@pytest.fixture
def client(own_registry: str) -> Any:
    with RegistryClient(own_registry) as made:
        yield made


def lines(result: tuple[int, str, str]) -> tuple[int, list[str]]:
    code, out, err = result
    assert err == ""
    return code, out.splitlines()


def test_register_writes_references_before_their_referrers(shop: Any, client: RegistryClient):
    expected = [
        "+ register address from address.avsc",
        "+ register address-json from address.schema.json",
        "+ register customer from customer.avsc",
        "+ register form from form.schema.json",
        "+ register money from money.proto",
        "+ register order from order.proto",
    ]
    code, dry = lines(shop.run("register", "--dry-run"))
    assert (code, dry) == (0, [f"{line}: not done (dry run)" for line in expected])
    assert client.subjects() == []
    code, told = lines(shop.run("register"))
    assert (code, [line.partition(": ")[0] for line in told]) == (0, expected)
    held = client.version("customer").schema
    assert held.references == (Reference("Address", "address", 1),)
    assert client.version("order").schema.references == (Reference("money.proto", "money", 1),)
    assert client.version("form").schema.references == (Reference("address.schema.json", "address-json", 1),)
    assert lines(shop.run("register")) == (0, ["the registry has all of these schemas already"])


def test_register_of_one_subject_also_registers_its_references(shop: Any, client: RegistryClient):
    assert shop.run("register", "order")[0] == 0
    assert client.subjects() == ["money", "order"]
    code, _, err = shop.run("register", "no-such")
    assert (code, err) == (1, "magicbyte: no file of the project stands for the subject 'no-such'\n")


def test_a_new_version_of_a_reference_makes_new_versions_of_its_referrers(shop: Any, client: RegistryClient):
    shop.run("register")
    shop.edit("address.avsc", '"int"}', '"int"}, {"name": "street", "type": "string", "default": ""}')
    assert lines(shop.run("plan"))[1][:3] == [
        "~ set address's level to FULL",
        "+ register address from address.avsc",
        "+ register customer from customer.avsc",
    ]
    shop.run("register")
    assert client.versions("customer") == [1, 2]
    assert client.version("customer").schema.references == (Reference("Address", "address", 2),)


def test_nothing_is_changed_where_one_schema_breaks(shop: Any, client: RegistryClient):
    shop.run("register")
    shop.edit("address.avsc", '"int"', '"string"')
    shop.write("new.proto", MONEY.replace("shop", "other"))
    for command in ("register", "plan", "apply"):
        code, told = lines(shop.run(command))
        assert code == 100
        assert told[0].startswith("address.avsc:2:19: TYPE_MISMATCH (address): ")
        assert told[-1] == "nothing was changed in the registry"
    assert "new" not in client.subjects()


def test_plan_and_apply_delete_only_on_request(shop: Any, client: RegistryClient):
    client.register("old", SchemaText(AVRO, ADDRESS))
    client.register("older", SchemaText(AVRO, CUSTOMER, (Reference("Address", "old", 1),)))
    client.put_config({"compatibility": "NONE"}, "customer")
    shop.write(
        "magicbyte.toml", (shop.folder / "magicbyte.toml").read_text().replace("files", 'compatibility = "FULL"\nfiles')
    )
    code, plan = lines(shop.run("plan"))
    assert code == 0
    assert plan == [
        "~ set the global level from BACKWARD to FULL",
        "~ set address's level to FULL",
        "+ register address from address.avsc",
        "+ register address-json from address.schema.json",
        "+ register customer from customer.avsc",
        "+ register form from form.schema.json",
        "+ register money from money.proto",
        "+ register order from order.proto",
        "8 changes",
        "in no file, and left alone without --delete: old, older",
    ]
    assert lines(shop.run("apply", "--dry-run")) == (0, plan)
    assert client.subjects() == ["old", "older"]
    assert shop.run("apply")[0] == 0
    assert client.config("address")["compatibilityLevel"] == "FULL"
    assert lines(shop.run("apply"))[1][0] == "the registry is as the files say"
    assert lines(shop.run("apply", "--delete")) == (
        0,
        [
            "- take away customer's level NONE: done",
            "- delete older (1 version): done",
            "- delete old (1 version): done",
            "3 changes",
        ],
    )
    assert client.subjects() == ["address", "address-json", "customer", "form", "money", "order"]
    assert lines(shop.run("plan", "--delete")) == (0, ["the registry is as the files say"])


def test_set_compatibility(shop: Any, client: RegistryClient):
    code, told = lines(shop.run("set-compatibility", "a=full", "--global", "FORWARD", "--dry-run"))
    assert (code, told) == (0, ["~ global: FORWARD: not done (dry run)", "~ a: FULL: not done (dry run)"])
    assert client.config()["compatibilityLevel"] == "BACKWARD"
    assert shop.run("set-compatibility", "a=full", "--global", "FORWARD")[0] == 0
    assert client.config("a")["compatibilityLevel"] == "FULL"
    assert client.config()["compatibilityLevel"] == "FORWARD"
    assert lines(shop.run("set-compatibility", "a=default", "b=default"))[1] == [
        "~ a: default: done",
        "~ b: default: it had none",
    ]
    with pytest.raises(RegistryError):
        client.config("a")
    assert shop.run("set-compatibility", "a=UP")[2].startswith("magicbyte: a: 'UP' is none of NONE")
    for wrong in ([], ["FULL"]):
        with pytest.raises(SystemExit):
            shop.run("set-compatibility", *wrong)


def test_downloaded_schemas_pass_the_check_and_register_unchanged(shop: Any, client: RegistryClient):
    shop.run("register")
    client.register("topic/with:signs-value", SchemaText(AVRO, '"int"'))
    code, told = lines(shop.run("download", "--folder", "there", "--dry-run"))
    assert (code, told[0]) == (0, "+ there/address.avsc: not written (dry run)")
    assert not (shop.folder / "there").exists()
    shop.run("download", "--folder", "there")
    assert sorted(path.name for path in (shop.folder / "there").iterdir()) == [
        "address-json.schema.json",
        "address.avsc",
        "customer.avsc",
        "form.schema.json",
        "money.proto",
        "order.proto",
        "topic%2Fwith%3Asigns-value.avsc",
    ]
    told = lines(shop.run("download", "order", "--folder", "there"))
    assert told == (0, ["= there/order.proto", "= there/money.proto"])
    shop.run("download", "addr*", "--folder", "some", "--all-versions")
    assert sorted(path.name for path in (shop.folder / "some").iterdir()) == [
        "address-json.v1.schema.json",
        "address.v1.avsc",
    ]
    assert shop.run("download", "nothing-like-it")[2] == "magicbyte: the registry has no subject like nothing-like-it\n"


def test_a_lock_file_of_the_registry_checks_offline(shop: Any, client: RegistryClient, own_registry: str):
    shop.run("apply")
    shop.run("download", "--lock", "schemas.lock.json")
    held = json.loads((shop.folder / "schemas.lock.json").read_text())
    assert held["subjects"]["address"]["compatibility"] == "FULL"
    assert shop.places("--against", "schemas.lock.json") == (0, [])
    shop.edit("address.avsc", '"int"', '"long"')
    for against in ("schemas.lock.json", own_registry):
        code, findings = shop.check("--against", against)
        assert code == 100
        assert [(finding["file"], finding["direction"], finding["also"]) for finding in findings] == [
            ("address.avsc", "FORWARD", [])
        ]


def test_check_accepts_schemas_that_the_registry_has_already(shop: Any, client: RegistryClient, own_registry: str):
    client.register("address", SchemaText(AVRO, ADDRESS))
    fields = '{"name": "address", "type": "Address"}'
    client.put_config({"compatibility": "NONE"})
    for other in (', {"name": "n", "type": "int"}', ""):
        client.register("customer", SchemaText(AVRO, CUSTOMER.replace(fields, fields + other), (REFERENCE,)))
    client.put_config({"compatibility": "FULL_TRANSITIVE"}, "customer")
    assert client.check_compatibility("customer", SchemaText(AVRO, CUSTOMER, (REFERENCE,))).compatible is False
    assert client.register("customer", SchemaText(AVRO, CUSTOMER, (REFERENCE,))).version == 2
    assert shop.places("--against", own_registry) == (0, [])
    shop.edit("customer.avsc", fields, f'{fields}, {{"name": "o", "type": "int", "default": 0}}')
    code, findings = shop.check("--against", own_registry)
    assert (code, [finding["version"] for finding in findings]) == (100, ["version 1"])


def test_a_registry_is_needed_and_has_to_answer(project: Any):
    for command in (["register"], ["download"], ["set-compatibility", "a=FULL"], ["plan"], ["apply"]):
        code, _, err = project.run(*command)
        assert (code, err) == (
            1,
            "magicbyte: name the registry: --schema-registry-url URL, schema.registry.url, or `registry` in"
            " magicbyte.toml\n",
        )
        code, _, err = project.run(*command, "--schema-registry-url", "http://127.0.0.1:9")
        assert code == 1
        assert err.startswith("magicbyte: schema registry unavailable: ")
