"""Verdicts of our servers on Confluent's settings: honoured, without effect, refused, or unknown."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from magicbyte.kit.kafka.client_settings import is_java_only, is_known
from magicbyte.kit.settings.catalog import Catalog
from magicbyte.kit.settings.place import nearest


class Kind(StrEnum):
    """The kinds of verdicts, in the order of the report."""

    HONOURED = "honoured"
    WITHOUT_EFFECT = "without effect"
    REFUSED = "refused"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Verdict:
    """A verdict on a setting.

    Attributes:
        name: The setting, as Confluent's server names it.
        kind: The kind.
        reason: Why, or a remedy; for an honoured one what is to say of it.
        properties: Our properties in its place.
    """

    name: str
    kind: Kind
    reason: str = ""
    properties: Mapping[str, str] | None = None


_OFF = frozenset(("", "false", "none", "own"))
_JAVA_STORE = re.compile(r"(?P<prefix>.*\.)?ssl\.(?P<store>keystore|truststore)\.(?P<what>location|type)")
_JKS_ENDINGS = (".jks", ".keystore", ".truststore")
_CONVERT = "keytool -importkeystore -srckeystore {} -destkeystore {}.p12 -deststoretype PKCS12"
_EXPORT = "keytool -exportcert -rfc -keystore {} -alias ALIAS -file {}.pem"
_LOGIN_CONFIG = "java.security.auth.login.config"
_SYSTEM_PROPERTY = re.compile(r"(?:^|\s)[\"']?-D([\w.]+)=(\"[^\"]*\"|'[^']*'|\S+)")
_TOPIC_CONFIG = "kafkastore.topic.config."
_OF_REGISTRY_CLIENT = "schema.registry."


@dataclass(frozen=True, slots=True)
class Judge:
    """Gives verdicts on the settings of a server.

    Attributes:
        catalog: The settings of our server.
        registry_client: The settings of a registry client, for those that the proxy passes on to its own.
    """

    catalog: Catalog
    registry_client: Catalog

    def verdict(self, name: str, value: str) -> Verdict:
        """The verdict on a setting and its value."""
        rules = (_on_java_store, self._on_own, self._on_guard, self._on_java_options, self._on_idle, self._on_passed)
        verdicts = (rule(name, value) for rule in rules)
        unknown = Verdict(name, Kind.UNKNOWN, nearest(name, self.catalog.rows).removeprefix("; "))
        return next((found for found in verdicts if found is not None), unknown)

    def _on_own(self, name: str, value: str) -> Verdict | None:
        """The verdict on a setting that our server has too, perhaps under another name."""
        if name in self.catalog.rows:
            return Verdict(name, Kind.HONOURED, properties={name: value})
        if name in self.catalog.old_names:
            present = self.catalog.old_names[name]
            return Verdict(name, Kind.HONOURED, f"its name is {present} now", {present: value})
        if name in self.catalog.translated:
            return Verdict(name, Kind.HONOURED, self.catalog.translated[name], {name: value})
        return None

    def _on_guard(self, name: str, value: str) -> Verdict | None:
        """The verdict on a setting that asks for something that is not kept."""
        reason = self.catalog.refused.get(name)
        if reason is None:
            return None
        # A secret has no value that switches it off.
        off = {""} if name.endswith(".secret") else _OFF
        if value.strip().lower() in off:
            return Verdict(name, Kind.WITHOUT_EFFECT, f"it is off; if it were on: {reason}")
        return Verdict(name, Kind.REFUSED, reason)

    def _on_java_options(self, name: str, value: str) -> Verdict | None:
        """The verdict on options of Java if they name the file of users."""
        found = {match[1]: match[2].strip("\"'") for match in _SYSTEM_PROPERTY.finditer(value)}
        if name != "opts" or _LOGIN_CONFIG not in found:
            return None
        reason = f"-D{_LOGIN_CONFIG} is a property here; the rest is for Java"
        return Verdict(name, Kind.HONOURED, reason, {_LOGIN_CONFIG: found[_LOGIN_CONFIG]})

    def _on_idle(self, name: str, _value: str) -> Verdict | None:
        """The verdict on a setting that has no effect."""
        reason = self.catalog.without_effect.get(name)
        return None if reason is None else Verdict(name, Kind.WITHOUT_EFFECT, reason)

    def _on_passed(self, name: str, value: str) -> Verdict | None:
        """The verdict on a setting that is passed on to a client or a topic."""
        prefix = next((prefix for prefix in self.catalog.passed_on if name.startswith(prefix)), None)
        if prefix is None:
            return None
        honoured = Verdict(name, Kind.HONOURED, f"passed on to {self.catalog.passed_on[prefix]}", {name: value})
        if prefix == _TOPIC_CONFIG:
            return honoured
        if prefix == _OF_REGISTRY_CLIENT:
            return self._on_registry_client(name, honoured)
        return self._on_kafka_client(name, name.removeprefix(prefix), honoured)

    def _on_registry_client(self, name: str, honoured: Verdict) -> Verdict:
        client = self.registry_client
        if name in client.rows:
            return honoured
        if name in client.without_effect:
            return Verdict(name, Kind.WITHOUT_EFFECT, client.without_effect[name])
        near = nearest(name, [*client.rows, *self.catalog.rows])
        return Verdict(name, Kind.UNKNOWN, near.removeprefix("; "))

    def _on_kafka_client(self, name: str, rest: str, honoured: Verdict) -> Verdict:
        if is_java_only(rest):
            return Verdict(name, Kind.WITHOUT_EFFECT, "only Java's Kafka clients have it")
        if is_known(rest):
            return honoured
        return Verdict(name, Kind.UNKNOWN, f"the Kafka client has no {rest}{nearest(name, self.catalog.rows)}")


def _on_java_store(name: str, value: str) -> Verdict | None:
    """The verdict on a key store or trust store of Java's own form, which is not read."""
    match = _JAVA_STORE.fullmatch(name)
    if match is None:
        return None
    location, of_client = match["what"] == "location", match["prefix"] is not None
    if location and value.lower().endswith(_JKS_ENDINGS):
        form = _EXPORT if of_client and match["store"] == "truststore" else _CONVERT
        command = form.format(value, value.rpartition(".")[0])
        return Verdict(name, Kind.REFUSED, f"a JKS store is not read; convert it: {command}")
    if not location and value.strip().upper() == "JKS":
        return Verdict(name, Kind.REFUSED, "a JKS store is not read; convert the store, and leave its type out")
    return None
