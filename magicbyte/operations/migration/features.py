"""Features of the origin in use, and what becomes of them: contexts, metadata, rule sets, keys, exporters, settings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from compat.contracts.findings.structure import KNOWN_TYPES
from compat.contracts.model import InvalidRuleSet, Rule, RuleSet
from magicbyte.kit.errors import ApiError
from magicbyte.kit.plural import plural
from magicbyte.operations.migration.finding import Finding
from magicbyte.operations.registry_end import RegistryEnd
from magicbyte.operations.servers import ask
from magicbyte.operations.state import State
from registry.decide.decision import require_valid_rules
from registry.state.model import DEFAULT_CONTEXT, GLOBAL_CONTEXT, LOGICAL_POLICY, MODES

#: The types of rules that encrypt fields.
_ENCRYPTING = frozenset({"ENCRYPT", "ENCRYPT_PAYLOAD"})
#: The key of encrypted metadata, in Confluent's registries with an encoder.
_ENCODED = "__enc__"
_SHOWN = 5


def check_state(state: State) -> Iterator[Finding]:
    """The features in a state."""
    named = [name for name in state.contexts if name not in (DEFAULT_CONTEXT, GLOBAL_CONTEXT)]
    if named:
        yield Finding("CONTEXTS", f"the origin has {plural(len(named), 'context')}: {_some(named)}")
    deleted = sum(version.deleted for version in state.versions.values())
    if deleted:
        yield Finding("SOFT_DELETED", f"{plural(deleted, 'version')} are soft-deleted")
    yield from _metadata(state)
    yield from _rules(state)
    yield from _settings(state)


def _metadata(state: State) -> Iterator[Finding]:
    having = [version for version in state.versions.values() if version.content.metadata is not None]
    if having:
        yield Finding("METADATA", f"{plural(len(having), 'version')} have metadata")
    encoded = sorted(
        {
            version.subject
            for version in having
            if version.content.metadata is not None and _ENCODED in version.content.metadata.properties
        }
    )
    if encoded:
        yield Finding("ENCODED_METADATA", f"metadata is encrypted by the origin: {_some(encoded)}")


def _rules(state: State) -> Iterator[Finding]:
    types: Counter[str] = Counter()
    users: dict[str, set[str]] = {}
    for version in state.versions.values():
        rule_set = version.content.rule_set
        if rule_set is None:
            continue
        try:
            require_valid_rules(rule_set)
        except (ApiError, InvalidRuleSet) as error:
            sentence = (
                f"our registry would refuse the rule set of version {version.number} of {version.subject}: {error}"
            )
            yield Finding("RULE_SETS", sentence, subject=version.subject)
        for rule in _each(rule_set):
            name = (rule.type or "").upper()
            types[name] += 1
            users.setdefault(name, set()).add(version.subject)
    if types:
        shown = ", ".join(f"{name or 'no type'} ({count})" for name, count in sorted(types.items()))
        yield Finding("RULES", f"rules by type of executor: {shown}")
    for name in sorted(types):
        if name not in KNOWN_TYPES:
            yield Finding(
                "RULE_TYPES", f"no client of ours has an executor of type {name}: {_some(sorted(users[name]))}"
            )
    encrypting = sorted({subject for name in _ENCRYPTING & set(users) for subject in users[name]})
    if encrypting:
        yield Finding("ENCRYPTED_FIELDS", f"rules encrypt fields: {_some(encrypting)}")


def _each(rule_set: RuleSet) -> Iterator[Rule]:
    for _, rules, _ in rule_set.groups:
        yield from rules


def _settings(state: State) -> Iterator[Finding]:
    for owner, config in sorted(state.configs.items(), key=str):
        if config.compatibility_policy == LOGICAL_POLICY:
            sentence = f"{owner or 'the global config'} has the policy {LOGICAL_POLICY}, which is judged as STRICT here"
            yield Finding("SETTINGS", sentence, subject=owner or "")
    for owner, mode in sorted(state.modes.items(), key=str):
        if mode not in MODES or not MODES[mode].takes_registrations:
            yield Finding("MODE", f"{owner or 'the registry'} is in mode {mode}", subject=owner or "")


def check_services(end: RegistryEnd) -> Iterator[Finding]:
    """Find the services of the origin besides schemas: exporters, and keys of encrypted fields."""
    exporters = ask(end, "/exporters")
    if isinstance(exporters, list) and exporters:
        yield Finding("EXPORTERS", f"the origin has {plural(len(exporters), 'exporter')}: {_some(map(str, exporters))}")
    keys = ask(end, "/dek-registry/v1/keks")
    if isinstance(keys, list) and keys:
        sentence = f"the DEK registry of the origin has {plural(len(keys), 'key')}: {_some(map(str, keys))}"
        yield Finding("ENCRYPTED_FIELDS", sentence)


def _some(names: Iterable[str]) -> str:
    listed = list(names)
    more = f" and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
    return ", ".join(listed[:_SHOWN]) + more
