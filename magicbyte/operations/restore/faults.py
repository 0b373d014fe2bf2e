"""Faults of a state that no target can be given: an id with two contents, references that lead nowhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from magicbyte.operations.restore.references import References
from magicbyte.operations.state import State
from registry.state.identity import same_identity
from registry.state.model import GLOBAL_CONTEXT, MAX_VERSION, Version, context_of, in_bounds, may_be_subject

#: Names and numbers that no registry takes; this is never accepted.
NAMES = "names"
TWO_CONTENTS = "id-two-contents"
DANGLING = "dangling-references"
CYCLES = "reference-cycles"
#: The kinds of faults that `--accept` takes, each with its meaning.
FAULTS = {
    DANGLING: "schemas refer to versions that are not in the backup",
    CYCLES: "schemas refer to themselves, directly or through others",
    TWO_CONTENTS: "an id means two schemas (only into an empty topic or database)",
}


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault.

    Attributes:
        kind: One of `FAULTS`.
        sentence: What is wrong, and where.
    """

    kind: str
    sentence: str


def faults_of(state: State) -> list[Fault]:
    """The faults of a state: bad names and numbers, ids with two contents, references that lead nowhere, cycles."""
    return [*_names(state), *_two_contents(state), *_references(state)]


def _names(state: State) -> Iterator[Fault]:
    """Names and numbers that no registry takes; the file of another tool may have them."""
    for name, context in sorted(state.contexts.items()):
        has_only_mark = name == GLOBAL_CONTEXT and not context.listed
        if context_of(f":{name}:") != name or not may_be_subject(f":{name}:", of_settings=has_only_mark):
            yield Fault(NAMES, f"{name!r} is not the name of a context")
        if context.highest_id != 0 and not in_bounds(context.highest_id):
            yield Fault(NAMES, f"the mark of context {name} is {context.highest_id}, and not from 0 to {MAX_VERSION}")
    for subject, number in state.versions:
        if not in_bounds(number):
            yield Fault(NAMES, f"version {number} of {subject} is not from 1 to {MAX_VERSION}")
        if not may_be_subject(subject, of_settings=False):
            yield Fault(NAMES, f"{subject!r} is not a subject")
    for owner in sorted(name for name in {*state.configs, *state.modes} if name is not None):
        if not may_be_subject(owner, of_settings=True):
            yield Fault(NAMES, f"{owner!r} has a config or a mode, and is neither a subject nor a context")


def _two_contents(state: State) -> Iterator[Fault]:
    holders: dict[tuple[str, int], Version] = {}
    for version in state.versions.values():
        context = context_of(version.subject)
        holder = holders.setdefault((context, version.schema_id), version)
        if holder is not version and not same_identity(holder.content, version.content):
            yield Fault(
                TWO_CONTENTS,
                f"id {version.schema_id} of context {context} means two schemas: {_name(holder)} and {_name(version)}",
            )


def _references(state: State) -> Iterator[Fault]:
    references = References(state)
    for version in state.versions.values():
        for reference in version.references:
            if references.target(version, reference) is None:
                target = f"version {reference.version} of {reference.subject}"
                yield Fault(DANGLING, f"{_name(version)} refers to {target}, which is not there")
    done: set[int] = set()
    for version in state.versions.values():
        if version.references and id(version) not in done:
            yield from _cycles(references, version, done)


def _cycles(references: References, first: Version, done: set[int]) -> Iterator[Fault]:
    """Walk depth first from a version; a version that is met again on its own path closes a cycle."""
    path: set[int] = set()
    stack = [(first, False)]
    while stack:
        version, is_left = stack.pop()
        if is_left:
            path.discard(id(version))
            done.add(id(version))
        elif id(version) in path:
            yield Fault(CYCLES, f"{_name(version)} refers to itself")
        elif id(version) not in done:
            path.add(id(version))
            stack.append((version, True))
            stack += [(target, False) for target in references.targets(version)]


def _name(version: Version) -> str:
    return f"version {version.number} of {version.subject}"
