"""`magicbyte settings-schema`: the JSON Schema of settings, for editors, and for checks of Helm values and ConfigMaps.

`magicbyte pipeline schema` prints the one of pipeline files.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from magicbyte.kit.command_line import CommandParser
from magicbyte.kit.extras import require

Schema = dict[str, Any]
PROGRAM = "magicbyte settings-schema"


def main(arguments: Sequence[str]) -> int:
    """Print a schema; returns the exit code."""
    parser = CommandParser(prog=PROGRAM, description=__doc__, examples=("magicbyte settings-schema registry",))
    parser.add_argument("whose", metavar="WHOSE", choices=SCHEMAS, help=f"one of {', '.join(SCHEMAS)}")
    options = parser.parse_args(arguments)
    sys.stdout.write(json.dumps(SCHEMAS[options.whose](), indent=2) + "\n")
    return 0


def _registry() -> Schema:
    _require_server("registry")
    from magicbyte.kit.settings.server_schema import server_schema  # noqa: PLC0415 - after the check for the extra
    from registry.settings import RegistrySettings  # noqa: PLC0415

    return server_schema(RegistrySettings, "Properties of magicbyte registry")


def _rest_proxy() -> Schema:
    _require_server("rest_proxy")
    from magicbyte.kit.settings.server_schema import server_schema  # noqa: PLC0415 - after the check for the extra
    from rest_proxy.settings import RestProxySettings  # noqa: PLC0415

    return server_schema(RestProxySettings, "Properties of magicbyte rest-proxy")


def _require_server(package: str) -> None:
    require("server", user=f"`{PROGRAM}`")
    from magicbyte.cli.servers.common import require_ours  # noqa: PLC0415 - of no use to the other schemas

    require_ours(package)


def _ui() -> Schema:
    require("server", user=f"`{PROGRAM}`")
    from magicbyte.http.page_settings import PageSettings  # noqa: PLC0415 - after the check for the extra
    from magicbyte.kit.settings.properties_schema import document  # noqa: PLC0415
    from magicbyte.kit.settings.server_schema import own_properties_schema  # noqa: PLC0415

    return document("Properties of magicbyte ui", own_properties_schema(PageSettings) | _client_properties())


def _client() -> Schema:
    from magicbyte.kit.settings.properties_schema import document  # noqa: PLC0415 - --help does not need it

    return document("Settings of Magicbyte's registry client", _client_properties())


def _client_properties() -> Schema:
    """The settings of a registry client, each also with the prefix of Java's serializers."""
    from magicbyte.kit.settings import properties_schema as schemas  # noqa: PLC0415 - --help does not need it
    from serdes.client.config import PREFIX, ClientSettings  # noqa: PLC0415
    from serdes.client.sign_in_settings import INHERITED, SignInRows  # noqa: PLC0415
    from serdes.client.tls_settings import WITHOUT_EFFECT, TlsRows  # noqa: PLC0415

    inherited = schemas.described(schemas.any_text(), "Of the Kafka client, for sources that end in INHERIT.")
    properties = {
        **schemas.section_properties(ClientSettings, SignInRows, TlsRows),
        **dict.fromkeys(sorted(INHERITED), inherited),
        **dict.fromkeys(WITHOUT_EFFECT, schemas.obsolete("Without effect.")),
    }
    return properties | {PREFIX + name: schema for name, schema in properties.items()}


def _serializer(section: str, title: str) -> Schema:
    from magicbyte.kit.settings.properties_schema import document, section_properties  # noqa: PLC0415
    from serdes.message import config  # noqa: PLC0415 - --help does not need it
    from serdes.message.subject import SubjectRows  # noqa: PLC0415

    return document(title, section_properties(getattr(config, section), SubjectRows))


def _check() -> Schema:
    from magicbyte.check.config.config import Config  # noqa: PLC0415 - --help does not need it
    from magicbyte.kit.settings.generated import document_schema  # noqa: PLC0415

    return document_schema(Config, "Magicbyte check (magicbyte.toml)")


#: What has settings -> the function that makes their schema.
SCHEMAS: Mapping[str, Callable[[], Schema]] = {
    "registry": _registry,
    "rest-proxy": _rest_proxy,
    "ui": _ui,
    "client": _client,
    "avro-serializer": partial(_serializer, "AvroSerializerConfig", "Settings of AvroSerializer"),
    "avro-deserializer": partial(_serializer, "DeserializerConfig", "Settings of AvroDeserializer"),
    "json-serializer": partial(_serializer, "JSONSerializerConfig", "Settings of JSONSerializer"),
    "json-deserializer": partial(_serializer, "JSONDeserializerConfig", "Settings of JSONDeserializer"),
    "protobuf-serializer": partial(_serializer, "ProtobufSerializerConfig", "Settings of ProtobufSerializer"),
    "protobuf-deserializer": partial(_serializer, "ProtobufDeserializerConfig", "Settings of ProtobufDeserializer"),
    "check": _check,
}
