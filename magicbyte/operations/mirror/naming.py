"""The mirror's names: contexts and subjects of the source by their names in the target."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from msgspec.structs import replace as replace_version

from magicbyte.kit.failure import Failure
from magicbyte.operations.state import ContextState, State
from magicbyte.operations.subject_pattern import matches_subject
from registry.feed.export import GLOBAL_SETTINGS
from registry.state.model import (
    DEFAULT_CONTEXT,
    GLOBAL_CONTEXT,
    Config,
    SubjectName,
    Version,
    context_of,
    may_be_subject,
    parse_subject,
)
from registry.state.resolve import settings_key

#: The place of the subject in `--rename`.
PLACE = "${subject}"
_CONTEXT = re.compile(r"\.?[^:\s]+")
#: How many names an error lists.
_LISTED = 10


@dataclass(frozen=True, slots=True)
class Naming:
    """The mapping of the source's names to names of the target.

    Attributes:
        root: The target's context for the source's default one. With another root than `.`, the source's context `.x`
            becomes `.ROOT.x`.
        patterns: The subjects to mirror: `orders-*`, `:.eu:*`, or `:*:orders-*` in every context; empty for all.
        rename: The subject's name in the target, with `${subject}` for the one in the source.
    """

    root: str = DEFAULT_CONTEXT
    patterns: tuple[str, ...] = ()
    rename: str = PLACE

    @property
    def keeps_names(self) -> bool:
        """Whether all names stay as they are."""
        return self.root == DEFAULT_CONTEXT and self.rename == PLACE

    def context(self, name: str) -> str | None:
        """The target's context for one of the source; None if it has no place there."""
        if self.root == DEFAULT_CONTEXT:
            return name
        if name == GLOBAL_CONTEXT:
            return None
        return self.root if name == DEFAULT_CONTEXT else self.root + name

    def origin_context(self, name: str) -> str | None:
        """The source's context for one of the target; None if the mirror writes nothing there."""
        if self.root == DEFAULT_CONTEXT:
            return name
        if name == self.root:
            return DEFAULT_CONTEXT
        return name.removeprefix(self.root) if name.startswith(f"{self.root}.") else None

    def name(self, name: str | None) -> str | None:
        """The target's name of a subject, or of a context's settings.

        None is the name of the global settings, in the source and in the target. The name must have a place in the
        target; see `has_place`.
        """
        context, subject = parse_subject(name or GLOBAL_SETTINGS)
        target = self.context(context) or DEFAULT_CONTEXT
        renamed = self.rename.replace(PLACE, subject) if subject else ""
        return settings_key(str(SubjectName(target, renamed)))

    def subject(self, name: str) -> str:
        """The target's name of a subject."""
        return self.name(name) or ""

    def origin(self, name: str | None) -> str | None:
        """The source's name of a subject or context's settings of the target, in wire form; None if it has none.

        The global settings are `:.:`.
        """
        context, subject = parse_subject(name or GLOBAL_SETTINGS)
        origin = self.origin_context(context)
        if origin is None:
            return None
        if not subject:
            return GLOBAL_SETTINGS if origin == DEFAULT_CONTEXT else str(SubjectName(origin, ""))
        prefix, _, suffix = self.rename.partition(PLACE)
        bare = subject.removeprefix(prefix).removesuffix(suffix)
        if self.rename.replace(PLACE, bare) != subject or not bare:
            return None
        return str(SubjectName(origin, bare))

    def has_place(self, name: str | None) -> bool:
        """Tell whether a subject or context's settings of the source have a place in the target."""
        return self.context(context_of(name or "")) is not None

    def is_chosen(self, name: str) -> bool:
        """Tell whether a subject of the source is to be mirrored."""
        return not self.patterns or any(matches_subject(name, pattern) for pattern in self.patterns)


def checked_naming(context: str, patterns: Iterable[str], rename: str, *, automatic: str) -> Naming:
    """The naming of the command's options.

    Args:
        context: `none`, `auto`, or the name of a context.
        patterns: The patterns of `--subjects`.
        rename: The value of `--rename`.
        automatic: The context's name for `auto`; empty if the source has no id.

    Raises:
        Failure: An option is wrong.
    """
    if rename.count(PLACE) != 1:
        raise Failure(f"--rename {rename!r} needs {PLACE} once, for the subject's name, such as 'dc1-{PLACE}'")
    if context == "auto" and not automatic:
        raise Failure("--context auto: the source has no cluster id; name a context with --context NAME")
    root = {"none": DEFAULT_CONTEXT, "auto": automatic}.get(context, context)
    if not _CONTEXT.fullmatch(root):
        raise Failure(f"--context {context!r} is not a context: use none, auto, or a name such as dc1")
    root = root if root.startswith(".") else f".{root}"
    if root != DEFAULT_CONTEXT and not may_be_subject(f":{root}:", of_settings=False):
        raise Failure(f"--context {context!r} cannot be the name of a context")
    return Naming(root, tuple(patterns), rename)


@dataclass(frozen=True, slots=True)
class Placed:
    """The part of the source's state that is mirrored, under the target's names.

    Attributes:
        state: The state; its modes are those of the source.
        subjects: The subjects of the source that it covers, with those that others refer to.
        missing: Versions of the source that the state would need, since others refer to them, and whose subjects it
            does not have.
    """

    state: State
    subjects: frozenset[str]
    missing: frozenset[tuple[str, int]]

    @property
    def contexts(self) -> frozenset[str]:
        """The target's contexts that have versions, ids or settings in the source."""
        state = self.state
        with_settings = {context_of(name) for name in (*state.configs, *state.modes) if name is not None}
        return frozenset((state.contexts.keys() - {GLOBAL_CONTEXT}) | with_settings)


def placed(state: State, naming: Naming, more: Iterable[str] = ()) -> Placed:
    """Choose and rename what is mirrored of a state of the source.

    Args:
        state: The state, or a part of it.
        naming: The names.
        more: Subjects that are mirrored whatever the patterns say, since others refer to them.

    Raises:
        Failure: A version cannot have another name, because references name it.
    """
    kept = {name for name in {subject for subject, _ in state.versions} if naming.has_place(name)}
    subjects, missing = _with_references(state, {name for name in kept if naming.is_chosen(name) or name in {*more}})
    versions = [version for version in state.versions.values() if version.subject in subjects]
    _require_references(versions, naming)
    renamed = [replace_version(version, subject=naming.subject(version.subject)) for version in versions]
    whole = not naming.patterns

    def mirrored(name: str | None) -> bool:
        if not naming.has_place(name):
            return False
        is_subject = name is not None and bool(parse_subject(name).name)
        return (naming.is_chosen(name) or name in subjects) if is_subject and name is not None else whole

    return Placed(
        State(
            {
                target: context
                for name, context in state.contexts.items()
                if (target := naming.context(name)) is not None and _covers(naming, name, versions)
            }
            | _mark_of_new_contexts(state),
            {(version.subject, version.number): version for version in renamed},
            {naming.name(name): _renamed(naming, config) for name, config in state.configs.items() if mirrored(name)},
            {naming.name(name): mode for name, mode in state.modes.items() if mirrored(name)},
        ),
        frozenset(subjects),
        frozenset(missing),
    )


def _covers(naming: Naming, context: str, versions: Iterable[Version]) -> bool:
    """Tell whether a context is mirrored: all are, or those that have a chosen subject."""
    return not naming.patterns or any(context_of(version.subject) == context for version in versions)


def _mark_of_new_contexts(state: State) -> dict[str, ContextState]:
    """The mark above which contexts begin that have given no id; it keeps its name, and is mirrored in any case."""
    return {GLOBAL_CONTEXT: state.contexts[GLOBAL_CONTEXT]} if GLOBAL_CONTEXT in state.contexts else {}


def _with_references(state: State, subjects: set[str]) -> tuple[set[str], set[tuple[str, int]]]:
    """The subjects and all that they refer to, and those versions of it whose subjects the state does not have."""
    targets: dict[str, set[tuple[str, int]]] = {}
    for version in state.versions.values():
        for reference in version.references:
            named = (_target(version, reference.subject), reference.version)
            targets.setdefault(version.subject, set()).add(named)
    everything = {name for name, _ in state.versions}
    found, missing, waiting = set(subjects), set[tuple[str, int]](), list(subjects)
    while waiting:
        for target, number in targets.get(waiting.pop(), ()):
            if target not in everything:
                missing.add((target, number))
            elif target not in found:
                found.add(target)
                waiting.append(target)
    return found, missing


def _target(version: Version, named: str) -> str:
    context, subject = parse_subject(named)
    return str(SubjectName(context if named.startswith(":") else context_of(version.subject), subject))


def _require_references(versions: Iterable[Version], naming: Naming) -> None:
    """Check that references still lead to their targets; a text with other references would be another schema."""
    if naming.keeps_names:
        return
    torn = [
        f"{version.subject} version {version.number}"
        for version in versions
        if any(naming.rename != PLACE or reference.subject.startswith(":") for reference in version.references)
    ]
    if torn:
        more = f" and {len(torn) - _LISTED} more" if len(torn) > _LISTED else ""
        raise Failure(
            f"{', '.join(torn[:_LISTED])}{more}: references name subjects that would have other names in the target. "
            "Mirror without --rename, and with --context none if references name contexts; or leave these subjects out "
            "with --subjects"
        )


def _renamed(naming: Naming, config: Config) -> Config:
    return replace(config, alias=_alias(naming, config.alias)) if config.alias and not naming.keeps_names else config


def _alias(naming: Naming, alias: str) -> str:
    """The target's name of an alias; one that names no context is a subject of the context of its config."""
    if not alias.startswith(":"):
        return naming.rename.replace(PLACE, alias)
    name = naming.subject(alias)
    return name if name.startswith(":") else f"{GLOBAL_SETTINGS}{name}"
