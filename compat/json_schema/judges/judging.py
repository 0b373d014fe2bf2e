"""The vocabulary of the judges: changes that they report, and questions that the walk answers.

A judge is a generator. It yields changes, and questions about pairs of subschemas. The answer to a question is whether
the new subschema reads what the old one accepts. So a judge never recurses: the walk alone decides how deep, how often
and how long pairs are compared.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import dataclass

from compat.json_schema.model.nodes import Node
from compat.schema import Pointer

#: Steps into an instance: names of properties and indices of items.
Route = tuple[str | int, ...]

#: The step to an item that no keyword names.
ANY_ITEM = 0


@dataclass(frozen=True, slots=True)
class Change:
    """A change within a pair of schemas; path and route are relative to the pair.

    Attributes:
        name: The rule's name.
        path: The segments of the reference's path.
        route: The steps to the affected values in an instance.
        reader_at: Its place in the new schema's source; None if it is not there.
        writer_at: Its place in the old schema's source; None if it is not there.
    """

    name: str
    path: tuple[str, ...] = ()
    route: Route = ()
    reader_at: Pointer | None = None
    writer_at: Pointer | None = None


@dataclass(frozen=True, slots=True)
class Ask:
    """The question whether one subschema reads another's data.

    Attributes:
        old: The subschema that data was written with.
        new: The subschema that data is read with.
        path: The path segments from the current pair to this pair.
        route: The steps from an instance of the current pair to an instance of this pair.
        keep: Whether to report the changes of this pair; otherwise only the answer matters.
    """

    old: Node
    new: Node
    path: tuple[str, ...] = ()
    route: Route = ()
    keep: bool = True


@dataclass(frozen=True, slots=True)
class Doomed:
    """Reports that the pair is incompatible in any case; if only the verdict matters, the walk stops judging it."""


Judge = Generator[Change | Ask | Doomed, bool, None]


def attempt(old: Node, new: Node) -> Generator[Change | Ask | Doomed, bool, bool]:
    """Ask whether one schema reads another's data, without reporting the changes."""
    return (yield Ask(old, new, keep=False))


def keyword(name: str, old: Node, new: Node, word: str, segment: str | None = None) -> Change:
    """A change of one keyword's value; `segment` is its path segment if that is not the keyword."""
    return Change(name, (segment or word,), (), new.keyword(word), old.keyword(word))


def first_keyword(node: Node, words: Iterable[str]) -> Pointer | None:
    """The place of the first of some keywords that the schema has; None if it has none of them."""
    return next((at for word in words if (at := node.keyword(word)) is not None), None)


def child(at: Pointer | None, *steps: str | int) -> Pointer | None:
    """A place further inside; None stays None."""
    return None if at is None else (*at, *steps)
