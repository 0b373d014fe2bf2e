from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import Field

from magicbyte.check.config.config import Config
from magicbyte.cli.config.compose_file import PREFIXES
from magicbyte.cli.config.references import FORMATS, WHOSE, catalog_of, reference
from magicbyte.cli.config.servers import SERVERS
from magicbyte.cli.exit_codes import EXIT_CODES
from magicbyte.cli.main import COMMANDS
from magicbyte.http.metrics.settings import MetricsSettings
from magicbyte.http.page_settings import PageSettings
from magicbyte.http.settings import HttpSettings
from magicbyte.kit.environment import properties_from_environment, variable_of
from magicbyte.kit.logs.settings import LogSettings
from magicbyte.kit.properties_file import read_properties_file
from magicbyte.kit.settings.catalog import server_group
from magicbyte.kit.settings.generated import sections
from magicbyte.kit.settings.property_words import words
from magicbyte.kit.settings.section import Section, settings_of
from magicbyte.kit.settings.server import ServerSettings, Since
from magicbyte.kit.settings.server_reference import default_words, own_properties, server_reference, written
from magicbyte.security.settings import SecuritySettings
from magicbyte.security.sign_in.settings import SignInSettings
from magicbyte.security.tls.settings import TlsSettings
from registry.settings import RegistrySettings
from rest_proxy.rules.settings import RuleProperties
from rest_proxy.settings import RestProxySettings
from rest_proxy.settings.properties import RestProxyProperties
from serdes.console.outcome import Ended
from spark_avro.pipeline.file.pipeline import Pipeline
from tools.help_pages import help_pages
from tools.references import DOCS, PAGES, REFERENCES, marks, with_reference

OF_SERVERS = (
    RegistrySettings,
    RestProxyProperties,
    RuleProperties,
    PageSettings,
    HttpSettings,
    LogSettings,
    MetricsSettings,
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
    assert re.search(r"^\| (Setting|option|fact|line|code|Event) \|", text.partition("<!-- reference")[2], re.MULTILINE)


def test_every_property_of_a_server_is_in_one_table() -> None:
    for server in (RegistrySettings, RestProxySettings):
        owned = [name for owner in OF_SERVERS if issubclass(server, owner) for name, _ in own_properties(owner)]
        assert sorted(owned) == sorted(field.alias for field in server.model_fields.values() if field.alias)
    for page in ("config-registry.md", "config-rest-proxy.md"):
        text = (DOCS / page).read_text(encoding="utf-8")
        owned = SERVERS[PAGES[page]].all_settings().rows
        server = RegistrySettings if page == "config-registry.md" else RestProxySettings
        assert owned.keys() == {field.alias for field in server.model_fields.values() if field.alias}
        assert [name for name in owned if text.count(f"\n| `{name}`<br>`") != 1] == []


@pytest.mark.parametrize("page", PAGES)
def test_a_page_of_settings_is_what_the_command_prints(page: str) -> None:
    assert (DOCS / page).read_text(encoding="utf-8") == reference(PAGES[page], "md")


def test_each_command_has_its_page() -> None:
    pages = {path.name: path.read_text(encoding="utf-8") for path in (DOCS / "commands").glob("*.md")}
    assert pages == help_pages()
    assert COMMANDS.keys() - EXIT_CODES.keys() == set()
    for page in pages.values():
        places = [page.index(f"\n{part}\n") for part in ("**Synopsis**", "## Exit codes")]
        assert places == sorted(places)
        assert re.search(r"\n\*\*Examples?\*\*\n\n```sh\n", page)


@pytest.mark.parametrize("whose", WHOSE)
@pytest.mark.parametrize("form", FORMATS)
def test_a_reference_has_each_form_that_the_settings_have(whose: str, form: str) -> None:
    if whose in ("pipeline", "check") and form in ("properties", "env"):
        with pytest.raises(Ended, match=f"--format {form}: these settings are [A-Z]+, not properties") as ended:
            reference(whose, form)
        assert ended.value.code == 2
    else:
        assert reference(whose, form).endswith("\n")


@pytest.mark.parametrize("server", ["registry", "rest-proxy"])
def test_the_file_of_all_defaults_is_accepted_without_its_comment_signs(server: str, tmp_path: Path) -> None:
    catalog = SERVERS[server].all_settings()
    for form, read in (("properties", read_properties_file), ("env", _read_environment)):
        file = tmp_path / form
        lines = re.findall(r"^#(?! )([^#].*)$", reference(server, form), re.MULTILINE)
        assert len(lines) == len(catalog.rows)
        file.write_text("\n".join(line for line in lines if not line.endswith("=")) + "\n", encoding="utf-8")
        needed = {"bootstrap.servers": "localhost:9092"} if server == "rest-proxy" else {}
        owner = RestProxySettings if needed else RegistrySettings
        assert _effects(owner.from_properties(needed | read(file))) == _effects(owner.from_properties(needed))


def _effects(settings: RegistrySettings | RestProxySettings) -> dict[str, Any]:
    """The values; of settings whose default is another name of a value, the effect."""
    as_given = {"properties", "client_authentication", "allowed_methods", "allowed_headers"}
    effects = {"certificates": settings.demanded_certificates, "pages": settings.access_control}
    return settings.model_dump(exclude=as_given) | effects


def _read_environment(file: Path) -> dict[str, str]:
    pairs = (line.partition("=") for line in file.read_text(encoding="utf-8").splitlines())
    variables = [(name, value) for name, _, value in pairs]
    prefix = next(prefix for prefix in PREFIXES.values() if variables[0][0].startswith(prefix))
    return properties_from_environment(prefix, variables)


@pytest.mark.parametrize("whose", PAGES.values())
def test_every_setting_says_what_it_does(whose: str) -> None:
    rows = catalog_of(whose).rows.values()
    assert [row.name for row in rows if not re.fullmatch(r"[A-Z`].*\.", row.effect) or not row.takes] == []


@pytest.mark.parametrize("document", [Pipeline, Config])
def test_every_setting_of_a_document_says_what_it_does(document: type[Section]) -> None:
    rows = [row for section in sections(document) for row in settings_of(section)]
    assert len(rows) > 10
    assert [row.name for row in rows if not re.fullmatch(r"(?s)\S.*\.", row.help) or not row.kind.words] == []


@pytest.mark.parametrize(
    ("server", "name", "row"),
    [
        ("registry", "ssl.keystore.location", "| 0.2.0 | files reloaded |"),
        ("registry", "magicbyte.users.file", "| 0.2.0 | files reloaded |"),
        ("rest-proxy", "magicbyte.acl.store", "| 0.2.0 | files reloaded |"),
        ("rest-proxy", "producer.acks", "| 0.2.0 | yes |"),
        ("registry", "leader.eligibility", "Also read as `master.eligibility`. | 0.2.0 | yes |"),
    ],
)
def test_a_row_has_old_names_version_and_restart(server: str, name: str, row: str) -> None:
    [line] = [line for line in reference(server, "md").splitlines() if line.startswith(f"| `{name}`<br>")]
    assert line.endswith(row)


def test_a_younger_property_has_its_version() -> None:
    class Younger(ServerSettings):
        title = "Younger"
        limit: Annotated[int, Since("0.3.0")] = Field(1, alias="limit", description="A limit.")

    assert [row.since for row in server_group(Younger, "X_", {}).rows] == ["0.3.0"]


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
        is_proxy = owner is RestProxyProperties
        server, others = (RestProxySettings, {"bootstrap.servers": "localhost:9092"}) if is_proxy else (owner, {})
        assert getattr(server.from_properties(others | given), attribute_of(owner, name)) == default


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
        (RestProxyProperties, "bootstrap.servers", "`HOST:PORT`, with commas between | required |"),
        (RestProxyProperties, "producer.acks", "0 or 1 or -1 or all | `all` |"),
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
