"""The references of a version, and the versions that refer to it: the routes `graph` and `referencedby`."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compat.schema import AVRO, Reference
from registry.access.visible import VisibleView
from registry.http.holders import held_versions
from registry.state import records
from registry.state.model import Content, Version
from registry.state.records import Key
from registry.state.reference_graph import MOST_NODES, GraphDirection, reference_graph
from registry.state.view import View


def record(name: str, *names: str) -> str:
    fields = [{"name": f"f{index}", "type": other} for index, other in enumerate(names)]
    return json.dumps({"type": "record", "name": name, "fields": fields})


def reference(name: str, subject: str, version: int = 1) -> dict[str, Any]:
    return {"name": name, "subject": subject, "version": version}


@pytest.fixture
def shop(api: Any) -> Any:
    """Orders refer to customers and addresses, customers to addresses; shipments and a deleted archive to orders."""
    registrations = [
        ("addresses", record("Address"), []),
        ("customers", record("Customer", "Address"), [reference("Address", "addresses")]),
        (
            "orders",
            record("Order", "Customer", "Address"),
            [reference("Customer", "customers"), reference("Address", "addresses")],
        ),
        ("shipments", record("Shipment", "Order"), [reference("Order", "orders")]),
        ("archive", record("Archive", "Order"), [reference("Order", "orders")]),
        ("reports", record("Report", "Shipment"), [reference("Shipment", "shipments")]),
    ]
    for subject, text, references in registrations:
        assert api.register(subject, text, references=references).status_code == 200
    api("DELETE", "/subjects/archive")
    return api


def graph(
    api: Any, query: str = "", subject: str = "orders"
) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]], bool]:
    answered = api("GET", f"/subjects/{subject}/versions/1/graph{query}")
    assert answered.status_code == 200, answered.text
    told = answered.json()
    subjects = [node["subject"] for node in told["nodes"]]
    edges = [(subjects[edge["from"]], subjects[edge["to"]], edge["name"]) for edge in told["edges"]]
    return [(node["subject"], node["distance"]) for node in told["nodes"]], edges, told["cut"]


def test_a_subject_names_the_referrers_of_its_versions(shop: Any) -> None:
    shop.register("orders", record("Order", "Customer"), references=[reference("Customer", "customers")])

    def held(subject: str) -> Any:
        told = shop("GET", f"/subjects/{subject}/referencedby").json()
        versions = [
            (
                version["version"],
                version["total"],
                [(holder["subject"], holder["deleted"]) for holder in version["referencedBy"]],
            )
            for version in told["versions"]
        ]
        return versions, told["cut"]

    assert held("addresses") == ([(1, 2, [("customers", False), ("orders", False)])], False)
    assert held("orders") == ([(1, 2, [("archive", True), ("shipments", False)])], False)
    assert held("reports") == ([], False)
    # The subjects of a context are others.
    assert shop("GET", "/contexts/.eu/subjects/addresses/referencedby").json()["error_code"] == 40401


def test_a_removal_is_held_by_deleted_versions_too(shop: Any) -> None:
    shop("DELETE", "/subjects/reports")
    shop("DELETE", "/subjects/shipments")
    assert shop("DELETE", "/subjects/orders").status_code == 200
    refused = shop("DELETE", "/subjects/orders/versions/1?permanent=true").json()
    assert refused["error_code"] == 42206
    named = [(holder["subject"], holder["deleted"]) for holder in refused["referencedBy"]]
    assert named == [("archive", True), ("shipments", True)]


DOWN = [("orders", 0), ("customers", 1), ("addresses", 1)]
UP = [("shipments", -1), ("reports", -2)]
DOWN_EDGES = [
    ("orders", "customers", "Customer"),
    ("orders", "addresses", "Address"),
    ("customers", "addresses", "Address"),
]
UP_EDGES = [("shipments", "orders", "Order"), ("reports", "shipments", "Shipment")]
GRAPHS = [
    ("", DOWN + UP, DOWN_EDGES + UP_EDGES, False),
    ("?direction=both&depth=20", DOWN + UP, DOWN_EDGES + UP_EDGES, False),
    ("?direction=references", DOWN, DOWN_EDGES, False),
    ("?direction=referrers", DOWN[:1] + UP, UP_EDGES, False),
    ("?direction=referrers&depth=1", [*DOWN[:1], *UP[:1]], UP_EDGES[:1], True),
    ("?direction=references&depth=1", DOWN, DOWN_EDGES, False),
    (
        "?direction=referrers&depth=1&deleted=true",
        [DOWN[0], ("archive", -1), ("shipments", -1)],
        [("archive", "orders", "Order"), ("shipments", "orders", "Order")],
        True,
    ),
]


@pytest.mark.parametrize(("query", "nodes", "edges", "is_cut"), GRAPHS)
def test_a_graph_has_the_references_and_referrers_of_a_version(
    shop: Any, query: str, nodes: list[tuple[str, int]], edges: list[tuple[str, str, str]], is_cut: bool
) -> None:
    assert graph(shop, query) == (nodes, edges, is_cut)


def test_a_node_and_an_edge(shop: Any) -> None:
    assert shop("GET", "/subjects/customers/versions/latest/graph?direction=references").json() == {
        "nodes": [
            {"subject": "customers", "version": 1, "id": 2, "schemaType": "AVRO", "deleted": False, "distance": 0},
            {"subject": "addresses", "version": 1, "id": 1, "schemaType": "AVRO", "deleted": False, "distance": 1},
        ],
        "edges": [{"from": 0, "to": 1, "name": "Address"}],
        "cut": False,
    }
    assert graph(shop, "?deleted=true", "archive")[0][:2] == [("archive", 0), ("orders", 1)]


def test_a_graph_in_a_context_stays_in_it(api: Any) -> None:
    api.register(":.eu:base", record("Base"))
    api.register(":.eu:top", record("Top", "Base"), references=[reference("Base", "base")])
    expected = [":.eu:top", ":.eu:base"]
    for path in ("/contexts/eu/subjects/top", "/subjects/:.eu:top", "/subjects/top"):
        told = api("GET", f"{path}/versions/1/graph").json()
        assert [node["subject"] for node in told["nodes"]] == expected


REFUSED = [
    ("orders/versions/1/graph?depth=0", 400, "depth must be a number from 1 to 20, not '0'"),
    ("orders/versions/1/graph?depth=21", 400, "depth must be a number from 1 to 20, not '21'"),
    ("orders/versions/1/graph?depth=-1", 400, "depth must be a number from 1 to 20, not '-1'"),
    (
        "orders/versions/1/graph?direction=up",
        400,
        "direction must be one of references, referrers, both, not 'up'",
    ),
    ("none/versions/1/graph", 40401, "Subject 'none' not found."),
    ("orders/versions/2/graph", 40402, "Version 2 not found."),
    ("archive/versions/1/graph", 40401, "Subject 'archive' not found."),
]


@pytest.mark.parametrize(("path", "code", "message"), REFUSED)
def test_a_graph_that_is_refused(shop: Any, path: str, code: int, message: str) -> None:
    answered = shop("GET", f"/subjects/{path}")
    assert answered.json() == {"error_code": code, "message": message}
    assert answered.status_code == (code if code < 1000 else code // 100)


def test_a_graph_omits_unreadable_subjects(guarded: Any) -> None:
    for subject in ("sealed.inner", "open.inner"):
        assert guarded("admin", f"/subjects/{subject}/versions", {"schema": record("Inner")}).status == 200
    for subject, target in (("open.top", "open.inner"), ("sealed.top", "open.inner"), ("open.other", "sealed.inner")):
        body = {"schema": record("Top", "Inner"), "references": [reference("Inner", target)]}
        assert guarded("admin", f"/subjects/{subject}/versions", body).status == 200

    def subjects(name: str, subject: str) -> list[str]:
        answered = guarded(name, f"/subjects/{subject}/versions/1/graph")
        return [node["subject"] for node in json.loads(answered.body)["nodes"]]

    assert subjects("admin", "open.inner") == ["open.inner", "open.top", "sealed.top"]
    assert subjects("reader", "open.inner") == ["open.inner", "open.top"]
    assert subjects("reader", "open.other") == ["open.other"]
    assert guarded("reader", "/subjects/sealed.top/versions/1/graph").status == 403
    assert guarded("lister", "/subjects/open.top/versions/1/graph").status == 403


def put(view: View, subject: str, number: int, references: list[tuple[str, int]], *, deleted: bool = False) -> None:
    listed = tuple(Reference(f"{target} {version}", target, version) for target, version in references)
    schema_id = 1 + len(view.subjects()) * 10 + number
    content = Content(AVRO, f'"{subject} {number}"', listed)
    version = Version(subject, number, schema_id, content, deleted=deleted, timestamp=0)
    view.apply_record(records.version_record(records.encode_key(Key(records.SCHEMA, subject, number)), version))


def test_a_graph_is_bounded() -> None:
    view = View()
    put(view, "base", 1, [])
    for number in range(600):
        put(view, f"s{number}", 1, [("base", 1)])
    start = view.versions("base")[0]
    told = reference_graph(view, start, GraphDirection.BOTH, depth=5, deleted_referrers=False)
    assert (len(told.nodes), len(told.edges), told.is_cut) == (MOST_NODES, MOST_NODES - 1, True)


@pytest.mark.parametrize("count", [1000, 1001])
def test_a_list_of_holders_is_bounded(count: int) -> None:
    view = View()
    put(view, "base", 1, [])
    put(view, "base", 2, [])
    put(view, "newest", 1, [("base", 2)])
    for number in range(1, count):
        put(view, f"s{number}", 1, [("base", 1)])
    told = held_versions(view, view.versions("base"))
    listed = [len(version["referencedBy"]) for version in told["versions"]]
    assert (listed, told["total"], told["cut"]) == ([1, 999], count, count > 1000)


VERSIONS = [(subject, number) for subject in "abcd" for number in (1, 2)]
GRAPH = st.fixed_dictionaries(
    {
        version: st.lists(st.sampled_from([*VERSIONS, ("a", -1), ("gone", 1)]), max_size=3, unique=True)
        for version in VERSIONS
    }
)


@settings(max_examples=300, deadline=None, database=None)
@given(
    GRAPH,
    st.sets(st.sampled_from(VERSIONS), max_size=2),
    st.sets(st.sampled_from("bcd"), max_size=1),
    st.sampled_from(list(GraphDirection)),
    st.integers(1, 4),
    st.booleans(),
)
def test_a_graph_equals_the_result_of_a_naive_walk(
    listed: dict[tuple[str, int], list[tuple[str, int]]],
    deleted: set[tuple[str, int]],
    hidden: set[str],
    direction: GraphDirection,
    depth: int,
    with_deleted: bool,
) -> None:
    """Circles, references to the latest version, to missing, to deleted and to hidden ones included."""
    whole = View()
    for (subject, number), references in listed.items():
        put(whole, subject, number, references, deleted=(subject, number) in deleted)
    may_see: Callable[[str], bool] = lambda subject: subject not in hidden  # noqa: E731
    view = VisibleView(whole, may_see, may_see)
    latest = max([number for number in (1, 2) if ("a", number) not in deleted], default=0)
    pairs = {
        (source, ("a", latest) if target == ("a", -1) else target)
        for source, targets in listed.items()
        for target in targets
    }
    pairs = {pair for pair in pairs if all(end in VERSIONS and end[0] not in hidden for end in pair)}
    start = ("a", 1)

    def reached(steps: set[tuple[tuple[str, int], tuple[str, int]]]) -> dict[tuple[str, int], int]:
        distances = {start: 0}
        for distance in range(1, depth + 2):
            nearest = {end for end, before in distances.items() if before == distance - 1}
            for end in {target for source, target in steps if source in nearest} - set(distances):
                distances[end] = distance
        return distances

    down = reached(pairs) if direction != "referrers" else {}
    backwards = {(target, source) for source, target in pairs if with_deleted or source not in deleted}
    up = reached(backwards) if direction != "references" else {}
    far = [distance > depth for distance in (*down.values(), *up.values())]
    expected = {end: -distance for end, distance in up.items() if distance <= depth}
    expected |= {end: distance for end, distance in down.items() if distance <= depth}

    told = reference_graph(view, whole.versions("a")[0], direction, depth=depth, deleted_referrers=with_deleted)
    shown = [(node.version.subject, node.version.number) for node in told.nodes]
    assert dict(zip(shown, [node.distance for node in told.nodes], strict=True)) == expected
    assert shown[0] == start
    assert told.is_cut == any(far)
    edges = {(shown[edge.source], shown[edge.target]) for edge in told.edges}
    assert edges == {(source, target) for source, target in pairs if source in expected and target in expected}
