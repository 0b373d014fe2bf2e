"""The flows of serializers and deserializers as the proxy runs them, on its own client."""

from __future__ import annotations

from dataclasses import replace

from compat.schema import SchemaText
from rest_proxy.formats.plain import Options
from rest_proxy.formats.schema_reading import SchemaId
from rest_proxy.formats.schema_rights import Require, failed
from serdes.client.clients import AsyncRegistryClient, BaseClient
from serdes.client.flow import Flow
from serdes.client.models import RegisteredSchema
from serdes.error import RegistryError, SubjectNotFound, VersionNotFound
from serdes.message.deserializer import Deserializer
from serdes.message.serializer import Serializer
from serdes.message.subject import Naming
from serdes.rules.seam import Ruled, before_encoding
from serdes.text import TextOptions, serializing, text_form


class ProxySerializer(Serializer):
    """The flow of serializers for a schema of a request; a schema by id must be registered under the subject.

    Attributes:
        version: The subject's version of the schema; None before the schema is chosen.
    """

    client_type: type[BaseClient] = AsyncRegistryClient

    def __init__(
        self,
        client: AsyncRegistryClient,
        naming: Naming,
        schema: SchemaText,
        registration: SchemaId | RegisteredSchema | None,
        options: Options,
        require: Require,
    ) -> None:
        """Make the serializer of one schema.

        Args:
            client: The client of the registry.
            naming: The subject name strategies.
            schema: The schema.
            registration: The schema's id or guid if the request has it, its version if the request names a version;
                None for a text, which is registered if necessary.
            options: How schema data is written in JSON.
            require: Called with the subject before the registry is asked for it.
        """
        config = replace(text_form(schema.schema_type).writing(), naming=naming)
        super().__init__(client, serializing(schema, schema.schema_type, config, text_options(options)), config)
        self._registration = registration
        self._require = require
        self.version: int | None = None

    def registered(self, subject: str, own_schema: SchemaText | None) -> Flow[RegisteredSchema]:
        """The subject's version of the schema: looked up first, so that most requests register nothing."""
        self._require(subject)
        assert own_schema is not None
        registered = yield from self._version_of(subject, own_schema)
        self.version = registered.version
        return registered

    def _version_of(self, subject: str, schema: SchemaText) -> Flow[RegisteredSchema]:
        if isinstance(self._registration, RegisteredSchema):
            return self._registration
        endpoints = self.client.endpoints
        if self._registration is None:
            yield from self._refuse_latest_rules(subject)
        try:
            return (yield from endpoints.lookup(subject, schema))
        except RegistryError as missing:
            if self._registration is not None:
                details = f"subject = {subject}, schemaId = {self._registration}"
                raise failed(f"Error when fetching schema version. {details}", missing) from None
        return (yield from endpoints.register(subject, schema))

    def _refuse_latest_rules(self, subject: str) -> Flow[None]:
        """Refuse rules of the subject's latest version, because a text that is registered without rules inherits them.

        A look-up alone may find the text in an earlier version without rules.
        """
        self.client.clear_latest_caches()
        try:
            latest = yield from self.client.endpoints.version(subject)
        except (SubjectNotFound, VersionNotFound):
            return
        before_encoding(Ruled(f"the latest version of subject {subject}", latest.schema, latest.rule_set), None)


class ProxyDeserializer(Deserializer):
    """The flow of deserializers on the proxy's client."""

    client_type: type[BaseClient] = AsyncRegistryClient


def text_options(options: Options) -> TextOptions:
    """The options of the text forms."""
    return TextOptions(plain_unions=options.plain_unions, logical=not options.stored, holds_up_others=True)
