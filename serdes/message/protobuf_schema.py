"""The file of a generated class as a schema: its text, and the files that it imports as references."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from google.protobuf.descriptor import FieldDescriptor, FileDescriptor

from compat.schema import PROTOBUF, Dependencies, Dependency, Reference, SchemaText
from serdes.client.endpoints.cached import Endpoints
from serdes.client.flow import Flow
from serdes.message.config import ProtobufSerializerConfig
from serdes.serialization import Context

if TYPE_CHECKING:
    from compat.protobuf.schema import ProtobufSchema

#: Imports that every registry knows.
_BUILT_IN = ("google/protobuf/", "google/type/", "confluent/")


def parse(schema: SchemaText, dependencies: Dependencies = ()) -> ProtobufSchema:
    """The parsed schema; imports the parser on first use, because a serializer with a class may never need it."""
    from compat.protobuf.schema import parse as parse_schema  # noqa: PLC0415  # see above

    return parse_schema(schema, dependencies)


def is_repeated(field: Any) -> bool:
    """Whether a field's descriptor is that of a repeated field or of a map."""
    # Runtimes before 6.31 have `label` alone, and later ones warn of it.
    repeated: bool | None = getattr(field, "is_repeated", None)
    return field.label == FieldDescriptor.LABEL_REPEATED if repeated is None else repeated


def schema_text(file: FileDescriptor) -> str:
    """The file as the registry takes it: its descriptor in base64."""
    return base64.b64encode(file.serialized_pb).decode()


class References:
    """Registers or looks up the files that a file imports, depth-first, and refers to them."""

    def __init__(
        self, endpoints: Endpoints, config: ProtobufSerializerConfig, ctx: Context | None, context: str
    ) -> None:
        self._endpoints = endpoints
        self._config = config
        self._ctx = ctx
        self._context = context

    def schema(self, file: FileDescriptor) -> Flow[SchemaText]:
        """The schema of a file, with references to the files that it imports."""
        references = []
        for imported in _imports(file):
            if self._config.skip_known_types and imported.name.startswith(_BUILT_IN):
                continue
            schema = yield from self.schema(imported)
            references.append((yield from self._reference(imported.name, schema)))
        return SchemaText(PROTOBUF, schema_text(file), tuple(references))

    def _reference(self, name: str, schema: SchemaText) -> Flow[Reference]:
        config = self._config
        subject = config.reference_naming(self._ctx, Reference(name, "", -1))
        qualified = subject if subject.startswith(":.") else self._context + subject
        if config.registers and not config.reference_lookup_only:
            registered = yield from self._endpoints.register(qualified, schema, normalize=config.normalize)
        else:
            registered = yield from self._endpoints.lookup(qualified, schema, normalize=config.normalize)
        return Reference(name, subject, registered.version)


def _imports(file: FileDescriptor) -> list[FileDescriptor]:
    imported: list[FileDescriptor] = list(file.dependencies)
    return imported


def imported_by(file: FileDescriptor) -> Dependencies:
    """All files that a file imports, directly or not, each after its own imports."""
    texts: dict[str, str] = {}

    def collect(importing: FileDescriptor) -> None:
        for imported in _imports(importing):
            if imported.name not in texts and not imported.name.startswith("google/protobuf/"):
                collect(imported)
                texts[imported.name] = schema_text(imported)

    collect(file)
    return tuple(Dependency(name, text) for name, text in texts.items())
