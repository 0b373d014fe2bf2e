"""A running registry as the baseline: all live versions are fetched and compared locally."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from compat.level import LEVELS, Policy
from compat.schema import SchemaText
from magicbyte.check.baselines.baseline import Properties, Terms
from magicbyte.check.baselines.lock import State, StateBaseline
from magicbyte.check.project.tree import Stored
from magicbyte.kit.failure import Failure
from serdes.client.clients import RegistryClient
from serdes.client.config import client_options, short_names
from serdes.error import RegistryError, SerdesError, SubjectNotFound, VersionNotFound


@contextmanager
def registry_client(settings: Mapping[str, str]) -> Iterator[RegistryClient]:
    """A client of the registry in the settings.

    Args:
        settings: Settings as in `serdes.client.config.client_options`.

    Raises:
        Failure: a setting is wrong, or the registry does not answer or refuses a request.
    """
    try:
        with RegistryClient(**client_options({"max.retries": 1, **short_names(settings)})) as client:
            yield client
    except SerdesError as error:
        raise Failure(str(error)) from None


class RegistryBaseline(StateBaseline):
    """The requested subjects and their references, as a registry has them now."""

    def __init__(self, client: RegistryClient, subjects: Iterable[str]) -> None:
        self._client = client
        requested = set(subjects)
        names = {name for name in client.subjects() if name in requested}
        super().__init__(",".join(client.urls), fetch_state(client, names))

    def stored(self, subject: str, version: int) -> Stored | None:
        """A version of a subject, fetched on first use."""
        if subject not in self._state.versions:
            fetched = fetch_state(self._client, self._existing(subject))
            self._state = State(
                {**self._state.versions, subject: {}, **fetched.versions},
                {**fetched.terms, **self._state.terms},
                {**self._state.referenced, **fetched.referenced},
                {**self._state.properties, **fetched.properties},
            )
        return super().stored(subject, version)

    def notes(self) -> Sequence[str]:
        """Notes about unsupported policies."""
        return [
            f"the compatibilityPolicy of {subject or 'all subjects'} is {terms.unsupported_policy}, which is not"
            " supported: judged as STRICT"
            for subject, terms in self._state.terms.items()
            if terms.unsupported_policy is not None
        ]

    def _existing(self, subject: str) -> list[str]:
        try:
            self._client.versions(subject)
        except SubjectNotFound:
            return []
        return [subject]


def fetch_state(client: RegistryClient, subjects: Iterable[str]) -> State:
    """All live versions of some subjects, the versions that they refer to, and the terms of each and of all subjects.

    If the client may not read the terms of all subjects, the terms of each subject include them.
    """
    versions: dict[str, dict[int, SchemaText]] = {}
    common = _common_terms(client)
    terms: dict[str | None, Terms] = {None: common or Terms()}
    referenced: dict[tuple[str, int], SchemaText] = {}
    properties: dict[tuple[str, int], Properties] = {}
    todo: list[SchemaText] = []
    for subject in sorted(subjects):
        held = {number: client.version(subject, number) for number in client.versions(subject)}
        versions[subject] = {number: version.schema for number, version in held.items()}
        for number, version in held.items():
            if found_properties := _properties(version.metadata):
                properties[subject, number] = found_properties
        terms[subject] = _terms(client, subject, inherited=common is None)
        todo += versions[subject].values()
    while todo:
        for reference in todo.pop().references:
            if (
                reference.version in versions.get(reference.subject, {})
                or (reference.subject, reference.version) in referenced
            ):
                continue
            try:
                # A stored schema may refer to a version that has been deleted since.
                schema = client.version(reference.subject, reference.version, deleted=True).schema
            except (SubjectNotFound, VersionNotFound):
                continue
            referenced[reference.subject, reference.version] = schema
            todo.append(schema)
    return State(versions, terms, referenced, properties)


def _common_terms(client: RegistryClient) -> Terms | None:
    try:
        return _terms(client, None)
    except RegistryError as error:
        if error.status != 403:
            raise
        return None


def _terms(client: RegistryClient, subject: str | None, *, inherited: bool = False) -> Terms:
    try:
        config = client.config(subject, default_to_global=inherited)
    except RegistryError as error:
        if error.status == 404:
            return Terms()
        raise
    level, policy = config.get("compatibilityLevel"), config.get("compatibilityPolicy")
    terms = Terms(
        LEVELS.get(level or ""),
        group=config.get("compatibilityGroup"),
        validate_fields=config.get("validateFields"),
        defaults=_properties(config.get("defaultMetadata")),
        overrides=_properties(config.get("overrideMetadata")),
    )
    if policy is None or policy in tuple(Policy):
        return replace(terms, policy=policy and Policy(policy))
    return replace(terms, policy=Policy.STRICT, unsupported_policy=policy)


def _properties(metadata: Mapping[str, Any] | None) -> Properties | None:
    return None if metadata is None else metadata.get("properties")
