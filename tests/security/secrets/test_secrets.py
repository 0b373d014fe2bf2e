"""Secrets come from files and variables, and are shown nowhere."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest

from magicbyte.http.settings import HttpSettings
from magicbyte.kit.placeholders import PlaceholderError, placeholders_in, resolve, resolve_defaults
from magicbyte.kit.secret import Secret, has_secret, hide_user_info, is_secret, shown
from magicbyte.kit.settings import SettingsError
from magicbyte.security.sign_in.password_hash import hash_key
from magicbyte.testing import running_registry, running_rest_proxy
from tests.security.rights.rule_servers import wait_for


def test_placeholders_stand_for_what_files_and_variables_hold(tmp_path: Path):
    (tmp_path / "secrets.properties").write_text("store = s3cret ${env:NOT_RESOLVED}\n")
    (tmp_path / "password").write_text("from a folder\n")
    given = {
        "a": f"${{file:{tmp_path}/secrets.properties:store}}",
        "b": f"${{directory:{tmp_path}:password}}",
        "c": "user=${env:WHO} at ${env:WHERE:-home}${env:EMPTY:-}",
        "d": f"${{file:{tmp_path}/password}}",
        "e": "no $placeholder, ${other:x} neither",
    }
    assert resolve(given, {"WHO": "alice"}) == {
        "a": "s3cret ${env:NOT_RESOLVED}",
        "b": "from a folder",
        "c": "user=alice at home",
        "d": "from a folder",
        "e": "no $placeholder, ${other:x} neither",
    }


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://me:pw@host/x?a=b", "https://[hidden]@host/x?a=b"),
        (
            "postgresql://host/db?user=me&password=pw&sslmode=require",
            "postgresql://host/db?user=me&password=[hidden]&sslmode=require",
        ),
        (
            "'jdbc:sqlserver://host;user=me;trustStorePassword=pw;x=y'",
            "'jdbc:sqlserver://host;user=me;trustStorePassword=[hidden];x=y'",
        ),
        ("https://host/?access_token=pw and more", "https://host/?access_token=[hidden] and more"),
        ("https://host/?passwordless", "https://host/?passwordless"),
        ("s3a://KEY:SEC/RET@bucket/x", "s3a://[hidden]@bucket/x"),
        ("s3://bucket/a@b", "s3://bucket/a@b"),
    ],
)
def test_urls_are_shown_without_passwords(url: str, expected: str):
    assert hide_user_info(url) == expected


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("${file:/none:key}", "No such file or directory"),
        ("${directory:/tmp:../etc/passwd}", "write ${directory:/folder:file}"),
        ("${directory:/tmp}", "write ${directory:/folder:file}"),
        ("${env:NOT_SET}", "the variable is not set"),
    ],
)
def test_a_placeholder_that_can_not_be_resolved_is_named(value: str, reason: str):
    with pytest.raises(PlaceholderError) as raised:
        resolve({"ssl.key.password": value}, {})
    assert str(raised.value) == f"ssl.key.password: {value} cannot be resolved: {reason}"


@pytest.mark.parametrize(
    ("value", "placeholders", "by_default"),
    [
        ("plain $x ${other:y}", [], "plain $x ${other:y}"),
        ("${env:A:-b}", [("env", "A:-b")], "b"),
        ("${env:A:-}${env:B:-c:-d}", [("env", "A:-"), ("env", "B:-c:-d")], "c:-d"),
        ("${env:A}", [("env", "A")], "${env:A}"),
        ("${env:A:-b} ${env:C}", [("env", "A:-b"), ("env", "C")], "${env:A:-b} ${env:C}"),
        ("${file:/a:-b}", [("file", "/a:-b")], "${file:/a:-b}"),
    ],
)
def test_defaults_alone(value: str, placeholders: list[tuple[str, str]], by_default: str):
    assert placeholders_in(value) == placeholders
    assert resolve_defaults(value) == by_default


def test_a_missing_key_is_named(tmp_path: Path):
    file = tmp_path / "s"
    file.write_text("planted=s3cret\n")
    with pytest.raises(PlaceholderError) as raised:
        resolve({"a": f"${{file:{file}:other}}"}, {})
    assert str(raised.value).endswith("cannot be resolved: it has no such key, or is no UTF-8 text")


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("ssl.keystore.password", True),
        ("magicbyte.webhook.secret", True),
        ("kafkastore.sasl.jaas.config", True),
        ("basic.auth.user.info", True),
        ("bearer.auth.token", True),
        ("bearer.auth.client.secret", True),
        ("ssl.keystore.key", True),
        ("spark.hadoop.fs.azure.account.key.lake.dfs.core.windows.net", True),
        ("spark.hadoop.fs.azure.sas.flights.lake.blob.core.windows.net", True),
        ("spark.hadoop.fs.azure.sas.fixed.token.lake.dfs.core.windows.net", True),
        ("adls.sas-token.lake", True),
        ("adls.connection-string.lake", True),
        ("ssl.key.passphrase", True),
        ("spark.executorEnv.DB_PWD", True),
        ("spark.hadoop.fs.azure.account.auth.type", False),
        ("spark.sql.sasl", False),
        ("ssl.keystore.location", False),
        ("listeners", False),
        ("schema.registry.key.subject.name.strategy", False),
        ("oauthbearer.jwks.endpoint.url", False),
    ],
)
def test_which_properties_are_secret(name: str, secret: bool):
    assert is_secret(name) is secret


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("https://alice:s3cret@repo.example/maven2", True),
        ("-Xss4m -Djavax.net.ssl.trustStorePassword=s3cret", True),
        ('ScramLoginModule required username="a" password="s3cret";', True),
        ("ScramLoginModule required password = 's3cret';", True),
        ("https://lake.blob.core.windows.net/flights?sv=2022&sig=s3cret", True),
        ('{"client_secret": "s3cret"}', True),
        ("-----BEGIN PRIVATE KEY-----", True),
        ("jdbc:sqlserver://host;user=a;password=s3cret", True),
        ("https://repo.example/maven2", False),
        ("-Xss4m -Dfile.encoding=UTF-8", False),
        ("secret", False),
        ("design=flat", False),
    ],
)
def test_which_texts_have_a_secret(text: str, secret: bool):
    assert has_secret(text) is secret


def test_a_secret_is_not_shown():
    secret = Secret("s3cret")
    assert (repr(secret), str(secret), f"{secret}", secret.reveal()) == ("[hidden]", "[hidden]", "[hidden]", "s3cret")
    with pytest.raises(TypeError, match="not JSON serializable"):
        json.dumps(secret)
    assert shown("url", "https://alice:s3cret@host/path") == "'https://[hidden]@host/path'"
    assert "s3cret" not in repr(HttpSettings.from_properties({"ssl.key.password": "s3cret"}))


def test_errors_do_not_repeat_values_that_contain_secrets():
    class Settings(HttpSettings):
        pass

    with pytest.raises(SettingsError) as raised:
        Settings.from_properties({"idle.timeout.ms": "http://alice:s3cret@host"})
    assert "s3cret" not in str(raised.value)


#: What placeholders stand for is a secret as it is, whatever it looks like.
ODD = "mbs_odd-${env:MAGICBYTE_NOT_SET}-and-long-enough-for-nodes"


def odd_properties(folder: Path) -> dict[str, str]:
    """Settings of both servers with a secret that looks like a placeholder."""
    (folder / "secrets").write_text(f"odd={ODD}\n")
    users = folder / "users"
    users.write_text(f"proxy:{hash_key(ODD)}\n")
    users.chmod(0o600)
    return {
        "authentication.method": "BASIC",
        "magicbyte.users.file": str(users),
        "magicbyte.acl.store": "log",
        "super.users": "User:proxy",
        "magicbyte.inter.instance.secret": f"${{file:{folder}/secrets:odd}}",
    }


@pytest.mark.slow
def test_the_rest_proxy_resolves_placeholders_once(tmp_path: Path):
    properties = odd_properties(tmp_path)
    proxy_properties = {**properties, "schema.registry.basic.auth.user.info": f"proxy:${{file:{tmp_path}/secrets:odd}}"}
    rule = {
        "principal": "User:proxy",
        "resource_type": "TOPIC",
        "resource": "x",
        "operation": "READ",
        "permission": "ALLOW",
    }
    produce = {"value_schema": '"int"', "records": [{"value": 1}]}
    avro = {"content-type": "application/vnd.kafka.avro.v2+json"}
    reloaded = 'magicbyte_security_reloads_total{outcome="success",what="rules"}'
    with (
        running_registry(properties=properties) as registry,
        running_rest_proxy("127.0.0.1:1", registry.url, properties=proxy_properties) as proxy,
        httpx.Client(auth=("proxy", ODD), timeout=30) as client,
    ):
        # It signs in to follow the rules, and to register schemas.
        assert client.post(f"{registry.url}/security/acls", json=[rule]).status_code == 201
        wait_for(lambda: reloaded in client.get(f"{proxy.url}/metrics").text)
        client.post(f"{proxy.url}/topics/odd?timeout=1", content=json.dumps(produce), headers=avro)
        assert client.get(f"{registry.url}/subjects").json() == ["odd-value"]


def test_workers_resolve_placeholders_once(tmp_path: Path):
    properties = {**odd_properties(tmp_path), "magicbyte.workers": "2"}
    with running_registry(f"sqlite:///{tmp_path}/log", properties=properties) as registry:
        assert httpx.get(f"{registry.url}/subjects", auth=("proxy", ODD), timeout=30).json() == []
