"""The strongly connected components of a directed graph: groups of nodes that can reach each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence


def components(graph: Mapping[int, Sequence[int]]) -> Iterator[list[int]]:
    """The components; a component comes after its successors (Tarjan's algorithm, without recursion).

    Args:
        graph: The successors of each node.
    """
    order: dict[int, int] = {}
    lowest: dict[int, int] = {}
    open_nodes: list[int] = []
    is_open: set[int] = set()
    for root in graph:
        if root in order:
            continue
        stack = [(root, iter(graph[root]))]
        order[root] = lowest[root] = len(order)
        open_nodes.append(root)
        is_open.add(root)
        while stack:
            node, children = stack[-1]
            for child in children:
                if child not in order:
                    order[child] = lowest[child] = len(order)
                    open_nodes.append(child)
                    is_open.add(child)
                    stack.append((child, iter(graph[child])))
                    break
                if child in is_open:
                    lowest[node] = min(lowest[node], order[child])
            else:
                stack.pop()
                if stack:
                    parent = stack[-1][0]
                    lowest[parent] = min(lowest[parent], lowest[node])
                if lowest[node] == order[node]:
                    component = [open_nodes.pop()]
                    while component[-1] != node:
                        component.append(open_nodes.pop())
                    is_open.difference_update(component)
                    yield component
