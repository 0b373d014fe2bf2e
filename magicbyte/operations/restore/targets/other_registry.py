"""A registry of another vendor as a target: IMPORT mode, and a request for each version."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

from magicbyte.kit.failure import Failure
from magicbyte.kit.plural import plural
from magicbyte.operations.closing import Closing
from magicbyte.operations.registry_end import RegistryEnd
from magicbyte.operations.restore.plan import Loss, Plan, Written
from magicbyte.operations.restore.references import References, SubjectVersion
from magicbyte.operations.restore.targets.capabilities import Capabilities
from magicbyte.operations.restore.targets.import_modes import IMPORT, ImportModes
from magicbyte.operations.restore.targets.port import Progress
from magicbyte.operations.sources.port import Source
from magicbyte.operations.state import State
from registry.decide.configure import UPDATE_NAMES
from registry.feed.export import in_order
from registry.state.model import CONFIG_NAMES, Config, Version
from registry.state.records import content_extras
from serdes.client.requester import path
from serdes.error import RegistryError

#: How many requests are under way at a time.
_AT_ONCE = 16


class OtherRegistry(Closing):
    """A registry with Confluent's API, which keeps ids and versions in IMPORT mode.

    Args:
        end: The registry.
        source: The same registry as a source.
    """

    is_log = False

    def __init__(self, end: RegistryEnd, source: Source) -> None:
        self._end = end
        self._source = source
        self.withheld: tuple[str, ...] = ()
        self._before = State()
        self._registered: set[SubjectVersion] = set()
        self._capabilities = Capabilities.of(end)

    @property
    def name(self) -> str:
        """The URL without credentials."""
        return self._end.name

    def state(self) -> State:
        """Return the state of the registry; see `Target.state`."""
        reading = self._source.read()
        self._before, self.withheld = reading.state, reading.withheld
        return self._before

    def unfinished(self, state: State) -> frozenset[str]:
        """The subjects in IMPORT mode of their own: deleted versions may not be deleted again there."""
        return frozenset(name for name, mode in state.modes.items() if name is not None and mode == IMPORT)

    def losses(self, plan: Plan) -> list[Loss]:
        """Return the parts of the plan that the registry cannot hold, by its API; see `Target.losses`."""
        return list(self._capabilities.losses(plan.state))

    def storable(self, state: State) -> State:
        """The part of a state that the registry can hold; see `Target.storable`."""
        return self._capabilities.storable(state)

    def check(self, _plan: Plan) -> list[str]:
        """Whether the registry has modes; see `Target.check`."""
        try:
            self._end.call("GET", "/mode")
        except RegistryError as error:
            return [f"it has no modes, so ids cannot be kept: GET /mode: {error.message}"]
        return []

    def write(self, plan: Plan, progress: Progress) -> Written:
        """Register all versions in IMPORT mode, delete the deleted ones again, then set configs and modes."""
        state = self.storable(plan.state)
        missing = [version for version in state.versions.values() if self._lacks(version)]
        doomed = [version for version in state.versions.values() if version.deleted and not self._is_deleted(version)]
        touched = list(dict.fromkeys(version.subject for version in in_order([*missing, *doomed])))
        with ImportModes(self._end, self._before.modes) as modes, ThreadPoolExecutor(_AT_ONCE) as pool:
            present = {subject for subject, _ in self._before.versions}
            for subject in touched:
                modes.enter(subject, has_versions=subject in present)
            self._registered = set()
            try:
                self._register_all(pool, state, missing, progress)
            finally:
                # Also after an error or Ctrl-C: a version must not stay live that was deleted.
                there = {(version.subject, version.number) for version in doomed} & (
                    self._registered | self._before.versions.keys()
                )
                for wave in reversed(_waves(state, [state.versions[place] for place in there])):
                    _all(pool, self._delete, wave)
            self._configure(state)
            modes.final = {name: mode for name, mode in state.modes.items() if name is not None}
        self._set_modes(state, set(touched))
        return Written(len(missing), len(state.versions) - len(missing), "versions")

    def _register_all(
        self, pool: ThreadPoolExecutor, state: State, missing: Iterable[Version], progress: Progress
    ) -> None:
        done = 0
        for wave in _waves(state, missing):
            # The first alone: a registry that ignores the id is noticed before it has ignored many.
            _all(pool, self._register, wave[:1] if not done else [])
            _all(pool, self._register, wave[0 if done else 1 :])
            done += len(wave)
            progress(f"{plural(done, 'version')} in {self.name}")

    def read_back(self) -> State:
        """Read the registry by its API; see `Target.read_back`."""
        return self._source.read().state

    def unlike(self, _plan: Plan) -> tuple[str, ...]:
        """Nothing: a registry does not show its records; see `Target.unlike`."""
        return ()

    def _lacks(self, version: Version) -> bool:
        present = self._before.versions.get((version.subject, version.number))
        return present is None or (present.deleted and not version.deleted)

    def _is_deleted(self, version: Version) -> bool:
        present = self._before.versions.get((version.subject, version.number))
        return present is not None and present.deleted

    def _register(self, version: Version) -> None:
        content = version.content
        body: dict[str, Any] = {
            "schema": content.text,
            "schemaType": content.schema_type,
            **content_extras(content),
            "id": version.schema_id,
            "version": version.number,
        }
        answer = self._write("POST", f"/subjects{path(version.subject)}/versions", body)
        self._registered.add((version.subject, version.number))
        if answer.get("id") != version.schema_id:
            raise Failure(
                f"{self.name} has given id {answer.get('id')} instead of {version.schema_id} to version "
                f"{version.number} of {version.subject}, although the subject is in IMPORT mode: it cannot be a "
                "target. Delete that version there"
            )

    def _delete(self, version: Version) -> None:
        self._write("DELETE", f"/subjects{path(version.subject)}/versions/{version.number}", None)

    def _configure(self, state: State) -> None:
        for subject, config in state.configs.items():
            if self._before.configs.get(subject) != config:
                self._write("PUT", f"/config{path(subject) if subject else ''}", _config_body(config))

    def _set_modes(self, state: State, imported: set[str]) -> None:
        """Set the modes of contexts, the global one, and those of subjects that were not in IMPORT mode."""
        for subject, mode in sorted(state.modes.items(), key=lambda item: (item[0] is None, item[0] or "")):
            if subject not in imported and self._before.modes.get(subject) != mode:
                self._write("PUT", f"/mode{path(subject) if subject else ''}", {"mode": mode}, force=mode == "IMPORT")

    def _write(self, method: str, target: str, body: object, *, force: bool = False) -> Any:
        try:
            answer = self._end.call(method, target, {"force": force}, body)
        except RegistryError as error:
            raise Failure(f"{self.name} refuses {method} {target}: {error.message}") from None
        return answer if isinstance(answer, dict) else {}

    def close(self) -> None:
        """Close the connections."""
        self._source.close()
        self._end.close()


def _waves(state: State, versions: Iterable[Version]) -> list[list[Version]]:
    """Versions in waves: each after those that it refers to, and after the earlier ones of its subject."""
    references = References(state)
    chosen = {(version.subject, version.number) for version in versions}
    waves: list[list[Version]] = []
    wave_of: dict[SubjectVersion, int] = {}
    last_of: dict[str, int] = {}
    for version in in_order([state.versions[place] for place in sorted(chosen)]):
        targets = (wave_of.get((one.subject, one.number), -1) for one in references.targets(version))
        number = 1 + max((*targets, last_of.get(version.subject, -1)))
        wave_of[version.subject, version.number] = last_of[version.subject] = number
        waves += [[] for _ in range(number + 1 - len(waves))]
        waves[number].append(version)
    return waves


def _all(pool: ThreadPoolExecutor, write: Callable[[Version], None], versions: Iterable[Version]) -> None:
    """Write versions at the same time; after the first error, those that have not begun are left out."""
    futures = [pool.submit(write, version) for version in versions]
    try:
        for future in futures:
            future.result()
    finally:
        for future in futures:
            future.cancel()
        # Those that have begun may still register something.
        wait(futures)


def _config_body(config: Config) -> dict[str, Any]:
    """A config by the names of PUT bodies."""
    named = config.to_json()
    return {UPDATE_NAMES[field]: named[name] for field, name in CONFIG_NAMES.items() if name in named}
