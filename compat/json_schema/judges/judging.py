"""What the judges of single keywords say and ask; the walk answers them.

A judge is a generator. It yields findings, and questions about pairs of subschemas, and is sent the answers: whether
the new schema of the pair reads what the old one accepts. So a judge never recurses, and the walk alone decides how
deep, how often and for how long pairs are compared.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import dataclass

from compat.json_schema.model.nodes import Node
from compat.schema import Pointer

#: A step into an instance: a property's name or an item's index.
Route = tuple[str | int, ...]

#: The route's step to any item or property that no keyword names.
ANY_ITEM = 0


@dataclass(frozen=True, slots=True)
class Found:
    """A difference within a pair of schemas; path and route count from the pair.

    Attributes:
        name: The rule's name.
        path: The segments of the reference's path.
        route: Where the values stand in an instance that the difference is about.
        reader_at: The place in the new schema's source, if it stands there.
        writer_at: The place in the old schema's source, if it stands there.
    """

    name: str
    path: tuple[str, ...] = ()
    route: Route = ()
    reader_at: Pointer | None = None
    writer_at: Pointer | None = None


@dataclass(frozen=True, slots=True)
class Ask:
    """A question about two subschemas.

    Attributes:
        old: The subschema that data was written with.
        new: The subschema that it is read with.
        path: The segments from the pair in hand to them.
        route: The steps from an instance of the pair in hand to an instance of theirs.
        keep: Whether what is found between them counts; else only the answer is wanted.
    """

    old: Node
    new: Node
    path: tuple[str, ...] = ()
    route: Route = ()
    keep: bool = True


@dataclass(frozen=True, slots=True)
class Doomed:
    """Word that the pair is incompatible, whatever else is found: where only that is wanted, nothing more need be."""


Judge = Generator[Found | Ask | Doomed, bool, None]


def attempt(old: Node, new: Node) -> Generator[Found | Ask | Doomed, bool, bool]:
    """Asks whether one schema reads another, without counting what differs."""
    return (yield Ask(old, new, keep=False))


def keyword(name: str, old: Node, new: Node, word: str, segment: str | None = None) -> Found:
    """A difference in one keyword's value; `segment` is the path's segment where it is not the keyword."""
    return Found(name, (segment or word,), (), new.keyword(word), old.keyword(word))


def first_keyword(node: Node, words: Iterable[str]) -> Pointer | None:
    """Where the first of some keywords stands that the schema has."""
    return next((at for word in words if (at := node.keyword(word)) is not None), None)


def child(at: Pointer | None, *steps: str | int) -> Pointer | None:
    """A place further inside."""
    return None if at is None else (*at, *steps)
