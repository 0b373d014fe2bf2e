"""Checks a project's files against a baseline and returns a report."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from compat.budget import Budget
from compat.engine import Previous, Verdict, check
from compat.formats import FORMATS, parse
from compat.level import LEVELS, Level, Policy
from compat.report.explain import explain
from compat.report.finding import Finding as Broken
from compat.report.messages import reserved_field_messages
from compat.schema import Dependencies, InvalidSchema, ParsedSchema, Pointer, Position, SchemaText
from magicbyte.check.baselines.baseline import Baseline, Earlier, Properties, Terms
from magicbyte.check.checking_rules import rule_findings
from magicbyte.check.config.config import Config
from magicbyte.check.declared import declare, expired
from magicbyte.check.findings import ERROR, START, WARNING, Checked, Finding, Report, retained_together
from magicbyte.check.project.files import SchemaFile, invalid
from magicbyte.check.project.tree import Tree
from magicbyte.check.proving import Prover

#: The level if neither the project nor the baseline sets one.
DEFAULT_LEVEL = LEVELS["BACKWARD"]
#: The level for stored data: the new schema must read it.
_ALL_DATA = LEVELS["BACKWARD_TRANSITIVE"]

#: The metadata property that reserves fields.
_RESERVED = "confluent:reserved"
#: The limit of work for the witnesses, fixes and cautions of one file.
_EXPLANATION_STEPS = 500_000
#: Cautions that the lint rule `reserved` reports itself.
_LINTED = frozenset({"NUMBER_NOT_RESERVED", "NAME_NOT_RESERVED"})
#: Rule, path and direction, which identify the same break in two versions.
_Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class _Outcome:
    """The result for one file; `borrowed` are breaks that come only from its references."""

    findings: tuple[Finding, ...] = ()
    borrowed: tuple[Finding, ...] = ()
    checked: Checked | None = None


class Checker:
    """Checks the files of a project in order, each after the files that it refers to."""

    def __init__(self, config: Config, tree: Tree, baseline: Baseline, *, searches: bool = True) -> None:
        """Prepare a check.

        Args:
            config: The settings.
            tree: The files.
            baseline: The earlier versions.
            searches: Whether to search for data that show a finding, and for fixes.
        """
        self._searches = searches
        self._config = config
        self._tree = tree
        self._baseline = baseline
        #: Files that could not be parsed, and the files that refer to them.
        self._unusable: set[str] = set()
        #: Breaks with versions that have no data.
        self._harmless: list[str] = []

    def run(self, named: Collection[str] | None = None, *, today: dt.date, prior: Iterable[Finding] = ()) -> Report:
        """Check all files, or the named files.

        Args:
            named: Paths of the files whose findings are requested; by default all.
            today: The date for which declarations must be valid.
            prior: Findings about files that are not in the tree.
        """
        files, cycles = self._tree.order()
        self._unusable |= {finding.file for finding in cycles}
        outcomes = {file.path: self._check(file) for file in files}
        kept = [*prior, *cycles, *(finding for outcome in outcomes.values() for finding in outcome.findings)]
        findings = self._lend(kept, outcomes)
        selected = [finding for finding in findings if named is None or finding.file in named]
        declared, open_ = declare(sorted(selected, key=lambda finding: finding.order), self._config, today)
        checked = [outcome.checked for outcome in outcomes.values() if outcome.checked is not None]
        prover = Prover(self._tree, checked, self._findings_of)
        idle = tuple(expired(self._config.declarations, findings, today))
        return Report(
            tuple(
                sorted(
                    (subject for subject in checked if named is None or subject.file in named),
                    key=lambda subject: subject.file,
                )
            ),
            tuple(map(prover.proven, open_)),
            tuple(declared),
            (*self._baseline.notes(), *self._harmless, *idle),
            idle,
        )

    def parsed(self, file: SchemaFile) -> ParsedSchema:
        """A file's schema.

        Raises:
            InvalidSchema: The parser of its type rejects it.
        """
        return parse(SchemaText(file.schema_type, file.text), self._tree.dependencies(file), strict=True)

    def _findings_of(self, tree: Tree, files: Sequence[SchemaFile]) -> Iterator[Finding]:
        """The findings of some files in a state of the project."""
        checker = Checker(self._config, tree, self._baseline, searches=False)
        ordered, cycles = tree.order(files)
        yield from cycles
        checker._unusable |= {finding.file for finding in cycles}
        paths = {file.path for file in files}
        for file in ordered:
            if file.path in paths:
                outcome = checker._check(file)
                yield from (*outcome.findings, *outcome.borrowed)
            elif isinstance(checker._read(file), Finding):
                checker._unusable.add(file.path)

    def _check(self, file: SchemaFile) -> _Outcome:
        if any(target.file is not None and target.file.path in self._unusable for target in self._tree.targets(file)):
            self._unusable.add(file.path)
        if file.path in self._unusable:
            return _Outcome()
        schema = self._read(file)
        if isinstance(schema, Finding):
            self._unusable.add(file.path)
            return _Outcome((schema,))
        level, policy = self._terms(file)
        versions = self._baseline.earlier(file, every=level.transitive)
        if self._baseline.is_data:
            breaks, borrowed = self._compare(file, schema, versions, versions, level, policy)
            checked = Checked(file.subject, file.path, level.name, len(versions))
            return _Outcome((*_warnings(file, schema), *breaks), tuple(borrowed), checked)
        terms = self._baseline.terms(file.subject).or_else(self._baseline.default_terms())
        group, properties = in_group(versions, terms)
        reserved = _reserved(file, schema, group, terms, properties)
        breaks, borrowed = self._compare(file, schema, versions, group, level, policy)
        linted = (*self._lint(file, schema, versions[-1] if versions else None), *self._rules(file, versions))
        compared = len(group if level.transitive else group[-1:]) if level.directions else 0
        checked = Checked(file.subject, file.path, level.name, compared)
        return _Outcome((*_warnings(file, schema), *reserved, *breaks, *linted), tuple(borrowed), checked)

    def _read(self, file: SchemaFile) -> ParsedSchema | Finding:
        """A file's schema, or the finding that explains why it cannot be read."""
        problem = self._tree.problems(file)
        if problem is not None and FORMATS[file.schema_type].warnings is None:
            return problem
        try:
            return self.parsed(file)
        except InvalidSchema as error:
            return problem or invalid(file, error)

    def _terms(self, file: SchemaFile) -> tuple[Level, Policy]:
        """The level and policy: the file's own, the subject's in the baseline, the project's, or the baseline's."""
        specific, common = self._baseline.terms(file.subject), self._baseline.default_terms()
        level = file.entry.level or specific.level or self._config.level or common.level or DEFAULT_LEVEL
        if self._baseline.is_data:
            level = _ALL_DATA
        policy = file.entry.policy or specific.policy or common.policy or self._config.policy
        return level, policy

    def _rules(self, file: SchemaFile, versions: Sequence[Earlier]) -> Iterable[Finding]:
        """The findings about the rules beside the file; not while edits are tried out, which change no rules."""
        return rule_findings(self._config, self._tree, file, versions) if self._searches else ()

    def _lint(self, file: SchemaFile, schema: ParsedSchema, version: Earlier | None) -> Iterable[Finding]:
        if not self._config.lint.rules:
            return ()
        from magicbyte.check.lint import lint  # noqa: PLC0415 - only for those who want it

        return lint(file, schema, version, self._config)

    def _compare(
        self,
        file: SchemaFile,
        schema: ParsedSchema,
        versions: Sequence[Earlier],
        group: Sequence[Earlier],
        level: Level,
        policy: Policy,
    ) -> tuple[list[Finding], list[Finding]]:
        """The breaks with the versions of the schema's compatibility group; none if it equals one of the versions."""
        dependencies = self._tree.dependencies(file)
        same = versions if self._baseline.keeps_versions else versions[-1:]
        if not self._baseline.is_data and any(self._is(schema, dependencies, version) for version in same):
            return [], []
        breaks: dict[_Key, Finding] = {}
        borrowed: dict[_Key, Finding] = {}
        harmless: dict[_Key, tuple[Broken, Earlier]] = {}
        budget = Budget(_EXPLANATION_STEPS)
        for broken in self._broken(schema, group, level, policy, budget):
            version = group[broken.version or 0]
            key = _key(broken)
            if self._baseline.is_data and not version.retained:
                harmless.setdefault(key, (broken, version))
                continue
            told = breaks if key in breaks else borrowed
            if key in told:
                # This older version breaks in the same way as a newer one.
                told[key] = replace(told[key], retained=retained_together(told[key].retained, version.retained))
                continue
            finding = self._finding(file, broken, version, budget)
            alone = None if version.dependencies == dependencies else self._alone(file, version, level, policy)
            (breaks if alone is None or key in alone else borrowed)[key] = finding
        harmful = breaks.keys() | borrowed.keys()
        self._harmless += [_harmless(file, *harmless[key]) for key in harmless if key not in harmful]
        return [*breaks.values()], [*borrowed.values()]

    def _broken(
        self, schema: ParsedSchema, versions: Sequence[Earlier], level: Level, policy: Policy, budget: Budget
    ) -> Sequence[Broken]:
        """The incompatibilities, and then the breaks that the rules allow."""
        # The engine identifies a version by its index in the list.
        previous = [
            Previous(index, partial(parse, version.schema, version.dependencies))
            for index, version in enumerate(versions)
        ]
        if self._baseline.is_data:
            # Check each version on its own: breaks that the rules allow concern all data, not only the newest version.
            verdicts = [check(schema, [version], level, policy) for version in reversed(previous)]
        else:
            verdicts = [check(schema, previous, level, policy, every_version=True)]
        return [broken for verdict in verdicts for broken in self._with_cautions(verdict, budget)]

    def _with_cautions(self, verdict: Verdict, budget: Budget) -> Sequence[Broken]:
        cautions = verdict.cautions(budget)
        if "reserved" in self._config.lint.rules:
            cautions = tuple(caution for caution in cautions if caution.difference.rule.name not in _LINTED)
        return (*verdict.findings, *cautions)

    def _alone(self, file: SchemaFile, version: Earlier, level: Level, policy: Policy) -> set[_Key] | None:
        """The breaks caused by the file's own change, with unchanged references; None if that cannot be determined."""
        try:
            schema = parse(SchemaText(file.schema_type, file.text), version.dependencies)
        except InvalidSchema:
            return None
        return {_key(broken) for broken in self._broken(schema, [version], level, policy, Budget(_EXPLANATION_STEPS))}

    def _is(self, schema: ParsedSchema, dependencies: Dependencies, version: Earlier) -> bool:
        """Whether a schema equals a version: the same text, or for a registry the same text apart from layout."""
        if version.schema.schema_type != schema.schema_type:
            return False
        if version.schema.text == schema.source and version.dependencies == dependencies:
            return True
        if not self._baseline.keeps_versions:
            return False
        try:
            if parse(version.schema, version.dependencies).canonical != schema.canonical:
                return False
            return _canonical(schema.schema_type, version.dependencies) == _canonical(schema.schema_type, dependencies)
        except InvalidSchema:
            return False

    def _finding(self, file: SchemaFile, broken: Broken, version: Earlier, budget: Budget) -> Finding:
        told = explain(broken, budget, searches=self._searches)
        position = told.new_at or _nearest(broken) or self._first_mention(file)
        return Finding(
            told.rule,
            file.path,
            position,
            _sentence(told.change),
            told.remedy,
            severity=ERROR if self._config.strict else told.severity,
            subject=file.subject,
            path=told.path,
            direction=told.direction,
            version=version.name,
            breaks=told.breaks.replace(f"version {told.version}", version.name),
            harm=told.harm,
            old=told.old_at,
            witness=told.witness,
            retained=version.retained,
            # The schema in a container file's header cannot be edited as text.
            fixes=() if file.is_container else told.fixes,
            text=file.text,
        )

    def _first_mention(self, file: SchemaFile) -> Position:
        mentions = self._tree.mentions(file)
        return self._tree.locate(file, mentions[0]) if mentions else START

    def _lend(self, findings: Sequence[Finding], outcomes: dict[str, _Outcome]) -> list[Finding]:
        """Attach to findings the subjects that they break; a borrowed finding without such a cause stays separate."""
        also: dict[int, list[str]] = {}
        left: list[Finding] = []
        by_file: dict[str, list[int]] = {}
        for index, finding in enumerate(findings):
            if finding.direction is not None:
                by_file.setdefault(finding.file, []).append(index)
        for path, outcome in outcomes.items():
            if not outcome.borrowed:
                continue
            reached = self._tree.reached(self._tree.by_path[path])
            causes = [index for file in reached for index in by_file.get(file.path, ())]
            for index in causes:
                also.setdefault(index, []).append(self._tree.by_path[path].subject)
            if not causes:
                left += outcome.borrowed
        lent = [replace(finding, also=tuple(also.get(index, ()))) for index, finding in enumerate(findings)]
        return lent + left


def _warnings(file: SchemaFile, schema: ParsedSchema) -> Iterator[Finding]:
    tell = FORMATS[file.schema_type].warnings
    for warning in tell(schema) if tell is not None else ():
        yield Finding(
            warning.rule,
            file.path,
            warning.position or START,
            f"{warning.message[0].upper()}{warning.message[1:]}.",
            warning.remedy,
            severity=WARNING,
            subject=file.subject,
        )


def in_group(versions: Sequence[Earlier], terms: Terms) -> tuple[Sequence[Earlier], Properties]:
    """The versions that a registry compares a new version with, and the metadata properties that the new version gets.

    A file has no metadata, so the registry gives the new version the properties of the latest version and the config.
    """
    latest = versions[-1].properties if versions else {}
    properties = {**(terms.defaults or {}), **latest, **(terms.overrides or {})}
    group = terms.group
    if group is None:
        return versions, properties
    return [version for version in versions if version.properties.get(group) == properties.get(group)], properties


def _reserved(
    file: SchemaFile, schema: ParsedSchema, versions: Sequence[Earlier], terms: Terms, properties: Properties
) -> Iterator[Finding]:
    """The fields of a file that the metadata reserves, if the registry checks them."""
    if not terms.validate_fields:
        return
    before = versions[-1].properties.get(_RESERVED) if versions else None
    for message in reserved_field_messages(schema, properties.get(_RESERVED), before):
        remedy = f"Give the field another name, or change the property `{_RESERVED}` of the subject's metadata."
        yield Finding("RESERVED_FIELD", file.path, START, message, remedy, subject=file.subject)


def _harmless(file: SchemaFile, broken: Broken, version: Earlier) -> str:
    rule, path = broken.difference.rule.name, broken.difference.path
    at = f" at {path}" if path else ""
    return f"{file.path} breaks {version.name} of {file.subject} ({rule}{at}), of which there are no records"


def _canonical(schema_type: str, dependencies: Dependencies) -> dict[str, str]:
    return {
        dependency.name: parse(SchemaText(schema_type, dependency.text), dependencies[:index]).canonical
        for index, dependency in enumerate(dependencies)
    }


def _key(broken: Broken) -> _Key:
    return broken.difference.rule.name, broken.difference.path, broken.direction.name


def _sentence(text: str) -> str:
    return text if text.endswith(".") else f"{text}."


def _nearest(broken: Broken) -> Position | None:
    """The position in the new schema of the innermost enclosing part that the old and the new schema share."""
    difference = broken.difference
    old: Pointer | None = difference.writer_at if broken.direction.new_reads_old else difference.reader_at
    # Paths of Protobuf and JSON Schema consist of names, so they are more precise than a position in the old text.
    named: Pointer = tuple(difference.path.removeprefix("#/").split("/")) if difference.path.startswith("#/") else ()
    around = (pointer[:length] for pointer in (named, old or ()) for length in range(len(pointer) - 1, 0, -1))
    locate = FORMATS[broken.new.schema_type].locate
    # The same number may have another meaning in the new text.
    places = (locate(broken.new, pointer) for pointer in around if not isinstance(pointer[-1], int))
    return next((place for place in places if place is not None), None)
