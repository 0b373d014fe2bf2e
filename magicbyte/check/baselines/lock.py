"""A registry's state as a file, and a registry's state as the baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from compat.json import json_text
from compat.level import LEVELS, Policy
from compat.schema import AVRO, Dependencies, Dependency, Reference, SchemaText
from magicbyte.check.baselines.baseline import Earlier, Properties, Terms
from magicbyte.check.config.toml_file import read_text
from magicbyte.check.findings import START
from magicbyte.check.project.files import SchemaFile
from magicbyte.check.project.tree import Store, Stored
from magicbyte.kit.failure import Failure

FORMAT = 1


@dataclass(frozen=True, slots=True)
class State:
    """The state of a registry.

    Attributes:
        versions: The live versions by subject and number.
        terms: The settings by subject; under None, the settings of all subjects.
        referenced: Versions that are included only because others refer to them.
        properties: The metadata properties of live versions, by subject and number; versions without any are omitted.
    """

    versions: Mapping[str, Mapping[int, SchemaText]] = field(default_factory=dict)
    terms: Mapping[str | None, Terms] = field(default_factory=dict)
    referenced: Mapping[tuple[str, int], SchemaText] = field(default_factory=dict)
    properties: Mapping[tuple[str, int], Properties] = field(default_factory=dict)

    def version(self, subject: str, number: int) -> SchemaText | None:
        """The version that a reference names."""
        return self.versions.get(subject, {}).get(number) or self.referenced.get((subject, number))

    def to_json(self) -> dict[str, Any]:
        """The content of the lock file."""
        subjects: dict[str, Any] = {
            subject: {
                **_terms_json(self.terms.get(subject, Terms())),
                "versions": [
                    _version_json(number, schema, self.properties.get((subject, number)))
                    for number, schema in sorted(versions.items())
                ],
            }
            for subject, versions in sorted(self.versions.items())
        }
        referenced = [
            {"subject": subject, **_version_json(number, schema)}
            for (subject, number), schema in sorted(self.referenced.items())
        ]
        common = _terms_json(self.terms.get(None, Terms()))
        return {"format": FORMAT, **common, "subjects": subjects, "referenced": referenced}


def _version_json(number: int, schema: SchemaText, properties: Properties | None = None) -> dict[str, Any]:
    references = [
        {"name": reference.name, "subject": reference.subject, "version": reference.version}
        for reference in schema.references
    ]
    value = {"version": number, "type": schema.schema_type, "schema": schema.text, "references": references}
    return value if not properties else {**value, "properties": dict(properties)}


def _terms_json(terms: Terms) -> dict[str, Any]:
    named = {
        "compatibility": terms.level and terms.level.name,
        "policy": terms.policy and str(terms.policy),
        "group": terms.group,
        "validate-fields": terms.validate_fields,
        "default-properties": terms.defaults and dict(terms.defaults),
        "override-properties": terms.overrides and dict(terms.overrides),
    }
    return {key: value for key, value in named.items() if value}


def read_lock(path: Path, name: str) -> State:
    """Read a lock file.

    Raises:
        Failure: there is no file, or it is not a lock file; with line and column.
    """
    text = read_text(path, name)
    try:
        value = json_text.loads(text)
    except json_text.InvalidJson as error:
        at = error.position or START
        raise Failure(f"{name}:{at.line}:{at.column}: {error.detail}") from None
    try:
        if value["format"] != FORMAT:
            raise Failure(f"{name}:1:1: is of format {value['format']!r}, this version reads format {FORMAT}")
        subjects = value["subjects"]
        versions = {
            subject: {int(version["version"]): _schema_text(version) for version in held["versions"]}
            for subject, held in subjects.items()
        }
        terms: dict[str | None, Terms] = {subject: _terms(held) for subject, held in subjects.items()}
        referenced = {
            (version["subject"], int(version["version"])): _schema_text(version)
            for version in value.get("referenced", ())
        }
        properties = {
            (subject, int(version["version"])): dict(version["properties"])
            for subject, held in subjects.items()
            for version in held["versions"]
            if "properties" in version
        }
        return State(versions, terms | {None: _terms(value)}, referenced, properties)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Failure(f"{name}:1:1: is no lock file: {type(error).__name__} {error}") from None


def _schema_text(value: Mapping[str, Any]) -> SchemaText:
    references = (
        Reference(reference["name"], reference["subject"], reference["version"])
        for reference in value.get("references", ())
    )
    return SchemaText(value.get("type", AVRO), value["schema"], tuple(references))


def _terms(value: Mapping[str, Any]) -> Terms:
    level, policy = value.get("compatibility"), value.get("policy")
    return Terms(
        LEVELS[level] if level else None,
        Policy(policy) if policy else None,
        group=value.get("group"),
        validate_fields=value.get("validate-fields"),
        defaults=value.get("default-properties"),
        overrides=value.get("override-properties"),
    )


class StateBaseline:
    """All live versions in a registry, now or when the lock file was written."""

    keeps_versions = True
    is_data = False

    def __init__(self, name: str, state: State) -> None:
        self.name = name
        self._state = state

    def earlier(self, file: SchemaFile, *, every: bool) -> Sequence[Earlier]:  # noqa: ARG002 - they are there anyway
        """All live versions of the subject."""
        versions = self._state.versions.get(file.subject, {})
        return [
            Earlier(
                f"version {number}",
                number,
                schema,
                self._dependencies(schema),
                self._state.properties.get((file.subject, number), {}),
            )
            for number, schema in sorted(versions.items())
        ]

    def terms(self, subject: str) -> Terms:
        """The terms of the subject."""
        return self._state.terms.get(subject, Terms())

    def default_terms(self) -> Terms:
        """The terms of all subjects."""
        return self._state.terms.get(None, Terms())

    def store(self) -> Store:
        """This object."""
        return self

    def notes(self) -> Sequence[str]:
        """None."""
        return ()

    def stored(self, subject: str, version: int) -> Stored | None:
        """A version of a subject, -1 for the latest; None if there is none."""
        number = max(self._state.versions.get(subject, {}), default=0) if version == -1 else version
        schema = self._state.version(subject, number)
        return None if schema is None else Stored(subject, number, schema, self._dependencies(schema))

    def _dependencies(self, schema: SchemaText) -> Dependencies:
        texts: dict[str, str] = {}
        self._gather(schema, texts, ())
        return tuple(Dependency(name, text) for name, text in texts.items())

    def _gather(self, schema: SchemaText, texts: dict[str, str], above: tuple[str, ...]) -> None:
        for reference in schema.references:
            if reference.name in texts or reference.name in above:
                continue
            held = self._state.version(reference.subject, reference.version)
            if held is not None:
                self._gather(held, texts, (*above, reference.name))
                texts.setdefault(reference.name, held.text)
