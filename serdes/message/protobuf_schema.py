"""A generated class's file as a schema: its text, and the files it imports as references."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from google.protobuf.descriptor import FileDescriptor

from compat.schema import PROTOBUF, Dependencies, Dependency, Reference, SchemaText
from serdes.client.endpoints import Endpoints
from serdes.client.flow import Flow
from serdes.message.config import ProtobufSerializerConfig
from serdes.serialization import Context

if TYPE_CHECKING:
    from compat.protobuf.schema import ProtobufSchema

#: Imports that every registry knows.
_KNOWN = ("google/protobuf/", "google/type/", "confluent/")


def parse(schema: SchemaText, dependencies: Dependencies = ()) -> ProtobufSchema:
    """The parsed schema; what parses it is imported when it is first needed, which with a class may be never."""
    from compat.protobuf.schema import parse as parse_schema  # noqa: PLC0415  # see above

    return parse_schema(schema, dependencies)


def schema_text(file: FileDescriptor) -> str:
    """The file as the registry takes it: its descriptor in base64."""
    return base64.b64encode(file.serialized_pb).decode()


class References:
    """The references of files to the files they import: registered, or looked up, depth-first."""

    def __init__(
        self, endpoints: Endpoints, config: ProtobufSerializerConfig, ctx: Context | None, context: str
    ) -> None:
        self._endpoints = endpoints
        self._config = config
        self._ctx = ctx
        self._context = context

    def schema(self, file: FileDescriptor) -> Flow[SchemaText]:
        """A file with the references it needs."""
        references = []
        for imported in _imports(file):
            if self._config.skip_known_types and imported.name.startswith(_KNOWN):
                continue
            schema = yield from self.schema(imported)
            references.append((yield from self._reference(imported.name, schema)))
        return SchemaText(PROTOBUF, schema_text(file), tuple(references))

    def _reference(self, name: str, schema: SchemaText) -> Flow[Reference]:
        config = self._config
        subject = config.reference_naming(self._ctx, Reference(name, "", -1))
        qualified = subject if subject.startswith(":.") else self._context + subject
        if config.registers and not config.reference_lookup_only:
            held = yield from self._endpoints.register(qualified, schema, normalize=config.normalize)
        else:
            held = yield from self._endpoints.lookup(qualified, schema, normalize=config.normalize)
        return Reference(name, subject, held.version)


def _imports(file: FileDescriptor) -> list[FileDescriptor]:
    imported: list[FileDescriptor] = list(file.dependencies)
    return imported


def imported_by(file: FileDescriptor) -> Dependencies:
    """All files that a file imports, each behind those it imports itself."""
    found: dict[str, str] = {}

    def collect(importing: FileDescriptor) -> None:
        for imported in _imports(importing):
            if imported.name not in found and not imported.name.startswith("google/protobuf/"):
                collect(imported)
                found[imported.name] = schema_text(imported)

    collect(file)
    return tuple(Dependency(name, text) for name, text in found.items())
