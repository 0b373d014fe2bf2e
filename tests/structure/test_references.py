from __future__ import annotations

import re
from typing import Any

import pytest

from magicbyte.http.page_settings import PageSettings
from magicbyte.http.settings import HttpSettings
from magicbyte.kit.environment import properties_from_environment, variable_of
from magicbyte.kit.logs.settings import LogSettings
from magicbyte.kit.settings.server_reference import default_words, own_properties, server_reference, words, written
from magicbyte.security.settings import SecuritySettings
from magicbyte.security.sign_in.settings import SignInSettings
from magicbyte.security.tls.settings import TlsSettings
from registry.settings import RegistrySettings
from rest_proxy.settings import RestProxySettings
from tools.references import DOCS, REFERENCES, marks, with_reference

OF_SERVERS = (
    RegistrySettings,
    RestProxySettings,
    PageSettings,
    HttpSettings,
    LogSettings,
    SecuritySettings,
    SignInSettings,
    TlsSettings,
)
PROPERTIES = {name: (owner, field) for owner in OF_SERVERS for name, field in own_properties(owner)}
#: In a page by itself, a property of two servers has two rows.
ALL = [(owner, name, field) for owner in OF_SERVERS for name, field in own_properties(owner)]


@pytest.mark.parametrize("page", REFERENCES)
def test_a_page_has_the_reference_of_its_settings(page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    assert marks(text) == list(REFERENCES[page])
    assert text == with_reference(text, REFERENCES[page])
    assert re.search(r"^\| (Setting|option|Event) \|", text.partition("<!-- reference")[2], re.MULTILINE)


def test_every_property_of_a_server_is_in_one_table() -> None:
    for server in (RegistrySettings, RestProxySettings):
        owned = [name for owner in OF_SERVERS if issubclass(server, owner) for name, _ in own_properties(owner)]
        assert sorted(owned) == sorted(field.alias for field in server.model_fields.values() if field.alias)
    pages = "".join((DOCS / page).read_text(encoding="utf-8") for page in REFERENCES)
    assert [name for name in PROPERTIES if f"\n| `{name}`<br>`" not in pages] == []


@pytest.mark.parametrize(("owner", "name", "field"), ALL, ids=[f"{owner.__name__}-{name}" for owner, name, _ in ALL])
def test_a_property_is_described_and_its_default_is_read_as_the_default(owner: Any, name: str, field: Any) -> None:
    assert field.description.endswith(".")
    assert words(field)
    shown = default_words(field)
    assert shown.count("`") % 2 == 0
    assert re.fullmatch(r"[^(\[]*|`\d+` \(\d+ [A-Za-z]+\)", shown)
    if field.is_required():
        return
    default = field.get_default(call_default_factory=True)
    if shown.startswith("`") and shown.partition("`")[2].partition("`")[0] == written(default):
        given = {name: written(default)}
        others = {"bootstrap.servers": "localhost:9092"} if owner is RestProxySettings else {}
        assert getattr(owner.from_properties(others | given), attribute_of(owner, name)) == default


def attribute_of(owner: Any, name: str) -> str:
    return next(attribute for attribute, field in owner.model_fields.items() if field.alias == name)


@pytest.mark.parametrize(
    ("owner", "name", "row"),
    [
        (HttpSettings, "idle.timeout.ms", "milliseconds, at least 1 | `30000` |"),
        (HttpSettings, "max.request.header.size", "bytes, at least 1024 | `32768` (32 KiB) |"),
        (HttpSettings, "access.control.allow.methods", "a list, with commas between | `GET,POST,HEAD` |"),
        (TlsSettings, "ssl.enabled.protocols", "a list of TLSv1.2 and TLSv1.3 | `TLSv1.2,TLSv1.3` |"),
        (TlsSettings, "ssl.client.authentication", "NONE or REQUESTED or REQUIRED | `NONE` |"),
        (TlsSettings, "ssl.key.password", "a secret |  |"),
        (SignInSettings, "authentication.roles", "a list, with commas between | `**` |"),
        (SignInSettings, "magicbyte.oauthbearer.max.lifetime.seconds", "seconds, above 0 | `86400` |"),
        (SignInSettings, "oauthbearer.clock.skew.seconds", "seconds, from 0 to 600 | `30` |"),
        (PageSettings, "magicbyte.ui.name", "a text of at most 40 characters |  |"),
        (RegistrySettings, "magicbyte.incompatible.error.code", "409 or 40901 | `409` |"),
        (RegistrySettings, "request.timeout.ms", "milliseconds, at least 1 | `600000` (10 min) |"),
        (RestProxySettings, "bootstrap.servers", "`HOST:PORT`, with commas between | required |"),
        (RestProxySettings, "producer.acks", "0 or 1 or -1 or all | `all` |"),
    ],
)
def test_a_row_has_type_unit_and_default(owner: Any, name: str, row: str) -> None:
    [line] = server_reference(owner, "X_", lambda property_name: property_name == name).splitlines()[2:]
    assert line.startswith(f"| `{name}`<br>`{variable_of('X_', name)}` | {row} ")


def test_a_variable_is_read_as_its_property() -> None:
    names = [*PROPERTIES, "a-b.c_d"]
    read = properties_from_environment("X_", [(variable_of("X_", name), "1") for name in names])
    assert sorted(read) == sorted(names)
    assert variable_of("SCHEMA_REGISTRY_", "a-b.c_d") == "SCHEMA_REGISTRY_A__B_C___D"
