"""The capabilities of another vendor's registry, asked from its API; what it cannot hold is listed or left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from msgspec.structs import replace as replace_version

from magicbyte.kit.plural import plural
from magicbyte.operations.registry_end import RegistryEnd
from magicbyte.operations.restore.plan import CONTEXTS, MARKS, METADATA, RULES, SETTINGS, Loss
from magicbyte.operations.state import ContextState, State
from registry.state.model import DEFAULT_CONTEXT, Config, Content, Version, context_of, kept_form
from serdes.error import RegistryError

#: The first version of Confluent's API with metadata, rules, and settings besides the level.
_MODERN = (7, 4)


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The parts of a state that a registry can hold besides ids, versions, texts, references, levels and modes.

    Attributes:
        contexts: Contexts other than the default one.
        modern: Metadata, rule sets, and settings besides the compatibility level.
    """

    contexts: bool
    modern: bool

    @classmethod
    def of(cls, end: RegistryEnd) -> Capabilities:
        """Ask a registry.

        Raises:
            Unreachable: It does not answer, or refuses the client.
        """
        return cls(_has_contexts(end), _version_of(end) >= _MODERN)

    def losses(self, state: State) -> Iterator[Loss]:
        """Yield the parts of a state that the registry cannot hold."""
        held = self.storable(state)
        low = [name for name, context in held.contexts.items() if context.highest_id < state.contexts[name].highest_id]
        if low:
            marks = ", ".join(f"{state.contexts[name].highest_id} in {name}" for name in sorted(low))
            yield Loss(MARKS, f"it gives the ids of deleted schemas again: the highest ids were {marks}")
        contexts = sorted(state.contexts.keys() - held.contexts.keys())
        if contexts:
            count = sum(context_of(subject) in contexts for subject, _ in state.versions)
            names = ", ".join(contexts)
            yield Loss(
                CONTEXTS, f"it has no contexts without schemas, or none at all: {names}, {plural(count, 'version')}"
            )
        if self.modern:
            return
        contents = [version.content for version in state.versions.values()]
        if count := sum(content.metadata is not None for content in contents):
            yield Loss(METADATA, f"it has no metadata: {plural(count, 'version')} would lose it, and get other guids")
        if count := sum(content.rule_set is not None for content in contents):
            yield Loss(RULES, f"it has no rule sets: {plural(count, 'version')} would lose theirs, and get other guids")
        if count := sum(config != _level_only(config) for config in state.configs.values()):
            yield Loss(SETTINGS, f"it has no settings besides the level: {plural(count, 'config')} would lose some")

    def storable(self, state: State) -> State:
        """The part of a state that the registry can hold."""
        versions = {
            place: self._storable_version(version)
            for place, version in state.versions.items()
            if self._has(context_of(version.subject))
        }
        highest: dict[str, int] = {DEFAULT_CONTEXT: 0}
        for version in versions.values():
            context = context_of(version.subject)
            highest[context] = max(version.schema_id, highest.get(context, 0))
        configs = {name: one for name, one in state.configs.items() if self._has(context_of(name or ""))}
        return replace(
            state,
            contexts={name: ContextState(listed=True, highest_id=one) for name, one in highest.items()},
            versions=versions,
            configs=configs if self.modern else {name: _level_only(one) for name, one in configs.items()},
            modes={name: one for name, one in state.modes.items() if self._has(context_of(name or ""))},
        )

    def _has(self, context: str) -> bool:
        return self.contexts or context == DEFAULT_CONTEXT

    def _storable_version(self, version: Version) -> Version:
        content = version.content
        if self.modern or (content.metadata is None and content.rule_set is None):
            return version
        bare = Content(content.schema_type, content.text, content.references)
        return replace_version(version, kept=kept_form(bare))


def _level_only(config: Config) -> Config:
    return Config(compatibility_level=config.compatibility_level)


def _has_contexts(end: RegistryEnd) -> bool:
    try:
        return isinstance(end.call("GET", "/contexts"), list)
    except RegistryError:
        return False


def _version_of(end: RegistryEnd) -> tuple[int, ...]:
    try:
        answer = end.call("GET", "/v1/metadata/version")
    except RegistryError:
        return ()
    text = str(answer.get("version", "")) if isinstance(answer, dict) else ""
    numbers = text.partition("-")[0].split(".")[:2]
    return tuple(int(number) for number in numbers) if all(number.isdigit() for number in numbers) else ()
