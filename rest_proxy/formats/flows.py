"""The flows of serializers and deserializers as the proxy runs them, on its own client."""

from __future__ import annotations

from dataclasses import dataclass, replace
from uuid import UUID

from compat.contracts.model import RuleSet
from compat.schema import SchemaText
from rest_proxy.formats.plain import Options
from rest_proxy.formats.schema_reading import SchemaId
from rest_proxy.formats.schema_rights import Require, failed
from serdes.client.clients import AsyncRegistryClient, BaseClient
from serdes.client.flow import Flow
from serdes.client.models import RegisteredSchema
from serdes.error import RegistryError, SerializationError, SubjectNotFound, VersionNotFound
from serdes.message.deserializer import Deserializer
from serdes.message.serializer import Serializer
from serdes.message.subject import Naming
from serdes.rules.counts import RuleCounts
from serdes.rules.executors import ENCRYPTION
from serdes.rules.settings import CLIENT, RuleSettings
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
        rules: SchemaRules,
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
            rules: The settings of rules, and where their verdicts are counted.
        """
        config = replace(text_form(schema.schema_type).writing(), naming=naming)
        form = serializing(schema, schema.schema_type, config, text_options(options))
        super().__init__(client, form, config, rules=rules.settings)
        self.rule_counts = rules.counts
        self._registration = registration
        self._require = require
        self.version: int | None = None

    def registered(self, subject: str, own_schema: SchemaText | None) -> Flow[RegisteredSchema]:
        """The subject's version of the schema: looked up first, so that most requests register nothing."""
        self._require(subject)
        assert own_schema is not None
        registered = yield from self._version_of(subject, own_schema)
        self.version = registered.version
        refuse_encryption_elsewhere(registered)
        return registered

    def _version_of(self, subject: str, schema: SchemaText) -> Flow[RegisteredSchema]:
        if isinstance(self._registration, RegisteredSchema):
            return self._registration
        if self._registration is not None:
            return (yield from self._version_of_id(subject, schema, self._registration))
        endpoints = self.client.endpoints
        try:
            registered = yield from endpoints.lookup(subject, schema)
        except RegistryError:
            return (yield from endpoints.register(subject, schema))
        # The look-up may find the text in a version from before the rules.
        latest = yield from self._latest(subject)
        has_rules = latest is not None and bool(latest.rule_set)
        return latest if latest is not None and has_rules and latest.schema == registered.schema else registered

    def _version_of_id(self, subject: str, schema: SchemaText, schema_id: SchemaId) -> Flow[RegisteredSchema]:
        """The subject's version with an id or guid: several versions may have one text, with other rules."""
        endpoints = self.client.endpoints
        try:
            registered = yield from endpoints.lookup(subject, schema)
            if schema_id in (registered.id, registered.guid and UUID(registered.guid)):
                return registered
            ids = [schema_id] if isinstance(schema_id, int) else (yield from endpoints.ids_of(str(schema_id)))
            for number in ids:
                for holder in (yield from endpoints.versions_of(number, subject)):
                    if holder.subject == registered.subject:
                        return (yield from endpoints.version(holder.subject, holder.version))
        except RegistryError as missing:
            details = f"subject = {subject}, schemaId = {schema_id}"
            raise failed(f"Error when fetching schema version. {details}", missing) from None
        return registered

    def _latest(self, subject: str) -> Flow[RegisteredSchema | None]:
        self.client.clear_latest_caches()
        try:
            return (yield from self.client.endpoints.version(subject))
        except (SubjectNotFound, VersionNotFound):
            return None


class ProxyDeserializer(Deserializer):
    """The flow of deserializers on the proxy's client."""

    client_type: type[BaseClient] = AsyncRegistryClient


@dataclass(frozen=True, slots=True)
class SchemaRules:
    """The settings of rules, and where their verdicts are counted."""

    settings: RuleSettings
    counts: RuleCounts


def refuse_encryption_elsewhere(version: RegisteredSchema) -> None:
    """Refuse to write plain data if only clients may encrypt them.

    Raises:
        RulesAtClients: The version has rules of encryption that are enabled at clients only.
    """
    rule_set = RuleSet.from_json(version.rule_set)
    if rule_set is None or rule_set.enable_at != CLIENT:
        return
    names = [
        rule.name or ""
        for rule in (*rule_set.domain_rules, *rule_set.encoding_rules)
        if (rule.type or "").upper() in ENCRYPTION and rule.mode in ("WRITE", "WRITEREAD") and not rule.disabled
    ]
    if names:
        raise RulesAtClients(version.subject, tuple(names))


class RulesAtClients(SerializationError):
    """A schema has rules that run at clients only, and without which nothing may be written."""

    def __init__(self, subject: str, rules: tuple[str, ...]) -> None:
        named = ", ".join(rules)
        super().__init__(
            f"rules of this schema run at CLIENT only: {named}; write to subject {subject} with a serializer"
        )


def text_options(options: Options) -> TextOptions:
    """The options of the text forms."""
    return TextOptions(plain_unions=options.plain_unions, logical=not options.stored, blocks_other_work=True)
