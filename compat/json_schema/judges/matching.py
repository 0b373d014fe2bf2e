"""Maximum cardinality matching in a bipartite graph (Hopcroft and Karp, 1973)."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

_FREE = -1


def maximum_matching(edges: Sequence[Sequence[int]], right_size: int) -> list[tuple[int, int]]:
    """A largest set of pairs in which no vertex occurs twice, in the order of the left vertices.

    The time is proportional to the edges times the square root of the vertices.

    Args:
        edges: For each left vertex, its possible right partners, the preferred ones first.
        right_size: The number of right vertices.
    """
    partner_of_left = [_FREE] * len(edges)
    partner_of_right = [_FREE] * right_size
    while distances := _layers(edges, partner_of_left, partner_of_right):
        for left in range(len(edges)):
            if partner_of_left[left] == _FREE:
                _augment(left, edges, partner_of_left, partner_of_right, distances)
    return [(left, right) for left, right in enumerate(partner_of_left) if right != _FREE]


def _layers(
    edges: Sequence[Sequence[int]], partner_of_left: Sequence[int], partner_of_right: Sequence[int]
) -> dict[int, int]:
    """The distances of left vertices from free ones along alternating paths; empty if no path ends at a free vertex."""
    distances = {left: 0 for left, right in enumerate(partner_of_left) if right == _FREE}
    queue = deque(distances)
    ends_free = False
    while queue:
        left = queue.popleft()
        for right in edges[left]:
            following = partner_of_right[right]
            if following == _FREE:
                ends_free = True
            elif following not in distances:
                distances[following] = distances[left] + 1
                queue.append(following)
    return distances if ends_free else {}


def _augment(
    start: int,
    edges: Sequence[Sequence[int]],
    partner_of_left: list[int],
    partner_of_right: list[int],
    distances: dict[int, int],
) -> None:
    """Flip one shortest alternating path from a free left vertex, if there is one; without recursion."""
    path: list[tuple[int, int]] = []
    trail = [(start, iter(edges[start]))]
    while trail:
        left, rest = trail[-1]
        for right in rest:
            following = partner_of_right[right]
            if following == _FREE:
                for pair in (*path, (left, right)):
                    partner_of_left[pair[0]], partner_of_right[pair[1]] = pair[1], pair[0]
                return
            if distances.get(following) == distances.get(left, _FREE) + 1 and left in distances:
                path.append((left, right))
                trail.append((following, iter(edges[following])))
                break
        else:
            distances.pop(left, None)  # a dead end for later paths too
            trail.pop()
            if path:
                path.pop()
