"""Writes the references of settings, other generated tables and whole pages into docs/, tables between two marks.

`<!-- reference -->` begins a reference, or `<!-- reference: NAME -->` if the page has several, and
`<!-- end of reference -->` ends it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import magicbyte.http.errors
import magicbyte.ui.errors
import registry.errors
import rest_proxy.errors
from magicbyte.check.config.config import Config
from magicbyte.cli.capacity.figures import Figures, load
from magicbyte.cli.config.references import reference as config_reference
from magicbyte.http.metrics.settings import MetricsSettings
from magicbyte.kit.logs.settings import LogSettings
from magicbyte.kit.settings.generated import own_table, reference
from magicbyte.kit.settings.section import Section
from magicbyte.kit.settings.server import ServerSettings
from magicbyte.kit.settings.server_reference import server_reference, without_effect
from magicbyte.security.settings import SecuritySettings
from magicbyte.security.sign_in.settings import SignInSettings
from magicbyte.security.tls.settings import TlsSettings
from serdes.client.config import ClientSettings
from serdes.client.sign_in_settings import SignInRows
from serdes.client.tls_settings import TlsRows
from serdes.message import config as serdes
from serdes.message.subject import SubjectRows
from spark_avro.pipeline.file.pipeline import Pipeline
from tools import capacity_tables
from tools.action_tables import action_tables
from tools.api_tests import matrix
from tools.command_tables import commands_table, flags_table
from tools.error_tables import error_table
from tools.events import PARTS, events_table
from tools.fsck_table import checks_table
from tools.help_pages import write_help_pages
from tools.metric_tables import METRICS

DOCS = Path(__file__).parents[1] / "docs"
#: The beginnings of environment variables: of either server, and of commands.
EITHER, COMMANDS = "*_", "MAGICBYTE_SCHEMA_REGISTRY_"

Table = Callable[[], str]


def _whole(section: type[Section]) -> Mapping[str, Table]:
    return {"": lambda: reference(section)}


def _server(settings: type[ServerSettings], prefix: str, has: Callable[[str], bool] = lambda _: True) -> Table:
    return lambda: server_reference(settings, prefix, has)


def _own(section: type[Section], prefix: str = "") -> Table:
    return lambda: own_table(section, prefix)


def _capacity(table: Callable[[Figures], str]) -> str:
    return table(load())


def _is_of_tokens(name: str) -> bool:
    return "oauthbearer" in name


def _is_of_nodes(name: str) -> bool:
    return "inter.instance" in name


#: Page -> name of the mark -> the table there.
REFERENCES: Mapping[str, Mapping[str, Table]] = {
    "capacity.md": {name: partial(_capacity, table) for name, table in capacity_tables.TABLES.items()},
    "check.md": {**_whole(Config), "action": action_tables},
    "commands.md": {"commands": commands_table, "options": flags_table},
    "errors.md": {
        "registry": lambda: error_table(registry.errors),
        "proxy": lambda: error_table(rest_proxy.errors),
        "http": lambda: error_table(magicbyte.http.errors),
        "page": lambda: error_table(magicbyte.ui.errors),
    },
    "fsck.md": {"": checks_table},
    "metrics.md": {"settings": _server(MetricsSettings, EITHER), **METRICS},
    "pipelines-reference.md": _whole(Pipeline),
    "registry-api-tests.md": {"": matrix},
    "logs.md": {"logs": _server(LogSettings, EITHER)},
    "events.md": {part: partial(events_table, part) for part in PARTS},
    "security.md": {
        "tls": _server(TlsSettings, EITHER),
        "tls without effect": lambda: without_effect(TlsSettings),
        "sign-in": _server(SignInSettings, EITHER, lambda name: not _is_of_tokens(name)),
        "tokens": _server(SignInSettings, EITHER, _is_of_tokens),
        "rules": _server(SecuritySettings, EITHER, lambda name: not _is_of_nodes(name)),
        "nodes": _server(SecuritySettings, EITHER, _is_of_nodes),
    },
    "security-clients.md": {
        "client": _own(ClientSettings, COMMANDS),
        "sign-in": _own(SignInRows, COMMANDS),
        "tls": _own(TlsRows, COMMANDS),
    },
    "serializers.md": {
        "common": _own(serdes.CommonConfig),
        "subjects": _own(SubjectRows),
        "serializers": _own(serdes.SerializerConfig),
        "deserializers": _own(serdes.DeserializerConfig),
        "avro": _own(serdes.AvroSerializerConfig),
        "json": _own(serdes.JSONConfig),
        "protobuf": _own(serdes.ProtobufConfig),
        "protobuf serializer": _own(serdes.ProtobufSerializerConfig),
    },
}
#: Page -> what has the settings: the page is what `magicbyte config reference` prints.
PAGES: Mapping[str, str] = {
    "config-registry.md": "registry",
    "config-rest-proxy.md": "rest-proxy",
    "config-ui.md": "ui",
    "config-client.md": "client",
}
_MARKED = re.compile(r"(<!-- reference(?:: ([a-z -]+))? -->\n).*?(<!-- end of reference -->\n)", re.DOTALL)


def marks(text: str) -> list[str]:
    """The names of the marks of a page."""
    return [match[2] or "" for match in _MARKED.finditer(text)]


def with_reference(text: str, tables: Mapping[str, Table]) -> str:
    """A page with its references as they are now."""
    return _MARKED.sub(lambda match: match[1] + tables[match[2] or ""]() + match[3], text)


def write(name: str) -> None:
    """Write the references of a page."""
    page = DOCS / name
    page.write_text(with_reference(page.read_text(encoding="utf-8"), REFERENCES[name]), encoding="utf-8")


if __name__ == "__main__":
    for page_name in REFERENCES:
        write(page_name)
    for name, whose in PAGES.items():
        (DOCS / name).write_text(config_reference(whose, "md"), encoding="utf-8")
    write_help_pages(DOCS / "commands")
