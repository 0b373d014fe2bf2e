"""Judges of allOf, anyOf, oneOf and not."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence

from compat.json_schema.judges.judging import Ask, Change, Doomed, Judge, attempt
from compat.json_schema.judges.matching import maximum_matching
from compat.json_schema.model.nodes import Combined, Node, Not


def into_combined(old: Node, new: Combined) -> Generator[Change | Ask | Doomed, bool, bool]:
    """SUM_TYPE_EXTENDED: whether one of the new alternatives, or the only member, reads a plain schema's data."""
    if new.size == 1:
        return (yield from _read_by(old, new.members[0]))
    if new.criterion != "allOf":
        for member in new.members:
            if (yield from _read_by(old, member)):
                yield Change("SUM_TYPE_EXTENDED", (), (), new.keyword(new.criterion) or new.at, old.at)
                return True
    return False


def out_of_combined(old: Combined, new: Node) -> Generator[Change | Ask | Doomed, bool, bool]:
    """PRODUCT_TYPE_NARROWED: whether a plain schema reads the data of an old allOf's member, or of the only member."""
    if old.size == 1:
        return (yield from _read_by(old.members[0], new))
    if old.criterion == "allOf":
        for member in old.members:
            if (yield from _read_by(member, new)):
                yield Change("PRODUCT_TYPE_NARROWED", (), (), new.at, old.keyword(old.criterion) or old.at)
                return True
    return False


def _read_by(old: Node, new: Node) -> Generator[Change | Ask | Doomed, bool, bool]:
    if not (yield from attempt(old, new)):
        return False
    yield Ask(old, new)
    return True


def combined(old: Combined, new: Combined) -> Judge:
    """COMBINED_TYPE_*, PRODUCT_TYPE_*, SUM_TYPE_*, and the changes between paired members."""
    reader_at, writer_at = new.keyword(new.criterion) or new.at, old.keyword(old.criterion) or old.at
    if old.criterion != new.criterion:
        verdict = "EXTENDED" if _is_extended(old, new) else "CHANGED"
        yield Change(f"COMBINED_TYPE_{verdict}", (), (), reader_at, writer_at)
        if verdict == "CHANGED":
            return
    before, after = old.members, new.members
    if len(before) < len(after):
        kind = "PRODUCT" if new.criterion == "allOf" else "SUM"
        yield Change(f"{kind}_TYPE_EXTENDED", (), (), reader_at, writer_at)
    elif len(before) > len(after):
        kind = "PRODUCT" if old.criterion == "allOf" else "SUM"
        yield Change(f"{kind}_TYPE_NARROWED", (), (), reader_at, writer_at)
    pairs = yield from _pair(before, after)
    for old_index, new_index in pairs:
        yield Ask(before[old_index], after[new_index], (f"{old.criterion}/{old_index}",))
    if len(pairs) < min(len(before), len(after)):
        yield Change("COMBINED_TYPE_SUBSCHEMAS_CHANGED", (), (), reader_at, writer_at)


def _pair(
    before: Sequence[Node], after: Sequence[Node]
) -> Generator[Change | Ask | Doomed, bool, list[tuple[int, int]]]:
    """Pair as many members as possible such that every new member reads its old partner.

    Most schemas change little, so members with the same index are tried first. Only if some members stay unpaired are
    all combinations tried.
    """
    edges: list[list[int]] = [[] for _ in before]
    untried: list[Iterator[int]] = []
    partners: dict[int, int] = {}
    for index, old in enumerate(before):
        untried.append(_same_index_first(index, len(after)))
        for new_index in untried[index]:
            if (yield from attempt(old, after[new_index])):
                edges[index].append(new_index)
                if new_index not in partners:
                    partners[new_index] = index
                    break
        if not edges[index] and len(before) <= len(after):
            yield Doomed()
    if len(partners) == min(len(before), len(after)):
        return sorted((old_index, new_index) for new_index, old_index in partners.items())
    for index, old in enumerate(before):
        for new_index in untried[index]:
            if (yield from attempt(old, after[new_index])):
                edges[index].append(new_index)
    return maximum_matching(edges, len(after))


def _same_index_first(index: int, size: int) -> Iterator[int]:
    if index < size:
        yield index
    for other in range(size):
        if other != index:
            yield other


def _is_extended(old: Combined, new: Combined) -> bool:
    one_before, one_after = old.size == 1, new.size == 1
    return (
        new.criterion == "anyOf"
        or (one_before and (one_after or new.criterion == "oneOf"))
        or (one_after and old.criterion == "allOf")
    )


def negated(old: Not, new: Not) -> Judge:
    """NOT_TYPE_NARROWED, NOT_TYPE_EXTENDED: the bodies are compared with the roles of old and new swapped."""
    reads = yield from attempt(new.body, old.body)
    rule = "NOT_TYPE_NARROWED" if reads else "NOT_TYPE_EXTENDED"
    yield Change(rule, ("not",), (), new.keyword("not"), old.keyword("not"))
