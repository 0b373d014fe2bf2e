"""The choice of a union's branch for a value: of Python data as in fastavro, of tagged JSON and of plain JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from serdes.codec.forms.check import DATUM, JSON, Check, Unfit
from serdes.codec.logical import preparer
from serdes.codec.schema import MISSING, Field, Node

#: Takes a union's value; returns the index of its branch, and the value without its tag.
Choose = Callable[[Any], tuple[int, Any]]
Fits = Callable[[Any], bool]


def names(union: Node) -> dict[str, int]:
    """The branches' indices by the names that tag them."""
    return {branch.branch: index for index, branch in enumerate(union.branches)}


def data_chooser(union: Node, *, nulls: bool = True) -> Choose:
    """The choice as in fastavro: by a (name, datum) tuple; else the first branch that the value fits.

    With `nulls`, a record that lacks nullable fields still fits. If several records fit, the one with the most of the
    value's keys is chosen, unless a branch of another type fits as well. If a float fits, a later double is chosen
    instead.
    """
    by_name = names(union)
    fits = _DataFits(nulls=nulls)
    candidates = [(index, branch, fits.may(branch), fits.of(branch)) for index, branch in enumerate(union.branches)]
    double = next((index for index, branch in enumerate(union.branches) if branch.kind == "double"), -1)

    def choose(value: Any) -> tuple[int, Any]:
        if isinstance(value, tuple):
            if len(value) != 2 or not isinstance(value[0], str) or value[0] not in by_name:
                raise Unfit("a tuple in a union is (branch name, datum)")
            return by_name[value[0]], value[1]
        possible = [candidate for candidate in candidates if candidate[2](value)]
        if len(possible) == 1:
            # Writing the value will check whether it really fits.
            return possible[0][0], value
        fitting = [(index, branch) for index, branch, _, fit in possible if fit(value)]
        other = next(((index, branch.kind) for index, branch in fitting if branch.kind != "record"), None)
        if other:
            return max(other[0], double) if other[1] == "float" else other[0], value
        if not fitting:
            raise Unfit
        # Among equals, the first.
        return max(fitting, key=lambda pair: sum(field.name in value for field in pair[1].fields))[0], value

    return choose


def tag_chooser(union: Node) -> Choose:
    """Avro JSON: null stands alone, any other value is in an object whose one key is the branch's name."""
    by_name = names(union)

    def choose(value: Any) -> tuple[int, Any]:
        tag, inner = ("null", None) if value is None else _tagged(value)
        if tag not in by_name:
            raise Unfit(f"it has no branch {tag!r:.80}")
        return by_name[tag], inner

    return choose


def _tagged(value: Any) -> tuple[str, Any]:
    if not isinstance(value, dict) or len(value) != 1:
        raise Unfit("a union's value is null or an object of one key, the branch's name")
    return next(iter(value.items()))


#: The rank of each kind among branches that fit a plain value; the lowest is chosen. Integers keep their width,
#: fractions keep their precision, and a text is a string rather than another kind that a text can represent.
_RANKS = {
    "null": 0, "boolean": 0, "string": 0, "enum": 1, "bytes": 2, "fixed": 2, "int": 0, "long": 1, "double": 2,
    "float": 3, "array": 0, "record": 0, "map": 1,
}  # fmt: skip
#: The ranks for a number written with a fraction, even a zero one.
_FRACTION_RANKS = {**_RANKS, "double": 0, "float": 1, "int": 2, "long": 3}


def plain_chooser(union: Node, *, defaults: bool, checks: Mapping[str, Check] = JSON) -> Choose:
    """Untagged JSON: the branch that the value fits, by rank of kind; if nothing fits, a tag is accepted.

    With `defaults`, a record that lacks fields with a default still fits. `checks` are those of the form.

    Raises:
        Unfit: Nothing fits, or two branches of the same rank do (two records, two arrays, bytes and fixed), which only
            a tag can tell apart.
    """
    by_name = names(union)
    fits = _PlainFits(defaults=defaults, checks=checks)
    candidates = [(index, branch, fits.of(branch)) for index, branch in enumerate(union.branches)]

    def choose(value: Any) -> tuple[int, Any]:
        ranks = _FRACTION_RANKS if isinstance(value, float) else _RANKS
        fitting = sorted((ranks[branch.kind], index) for index, branch, fit in candidates if fit(value))
        if not fitting:
            if isinstance(value, dict) and len(value) == 1:
                tag, inner = next(iter(value.items()))
                if tag in by_name and candidates[by_name[tag]][2](inner):
                    return by_name[tag], inner
            raise Unfit
        if len(fitting) > 1 and fitting[0][0] == fitting[1][0]:
            both = [union.branches[index].branch for rank, index in fitting if rank == fitting[0][0]]
            raise Unfit(f"it fits {' and '.join(both)}: tag it with the branch's name")
        return fitting[0][1], value

    return choose


def first_chooser(union: Node) -> Choose:
    """The choice for a field's default: the first branch that it fits, as in the Avro specification."""
    fits = _PlainFits(defaults=True)
    candidates = [fits.of(branch) for branch in union.branches]

    def choose(value: Any) -> tuple[int, Any]:
        for index, fit in enumerate(candidates):
            if fit(value):
                return index, value
        raise Unfit

    return choose


class _Fits:
    """The predicate of each node, made once, so that a recursive type refers to the predicate of itself."""

    checks: Mapping[str, Check]

    def __init__(self) -> None:
        self.predicates: dict[int, Fits] = {}

    def of(self, node: Node) -> Fits:
        """The predicate that checks whether a value fits the node completely."""
        if id(node) not in self.predicates:
            # A recursive type gets this forward call while its predicate is being made.
            self.predicates[id(node)] = lambda value: self.predicates[id(node)](value)  # noqa: PLW0108  (not yet made)
            self.predicates[id(node)] = self.make(node)
        return self.predicates[id(node)]

    def make(self, node: Node) -> Fits:
        if node.kind == "union":
            return self.union(node)
        if node.kind == "record":
            return self.record(node)
        if node.kind in {"array", "map"}:
            return self.items(node)
        return self.leaf(node)

    def leaf(self, node: Node) -> Fits:
        check = self.checks[node.kind]

        def fits(value: Any) -> bool:
            try:
                check(node, value)
            except Unfit:
                return False
            return True

        return fits

    def union(self, node: Node) -> Fits:
        branches = [self.of(branch) for branch in node.branches]
        return lambda value: any(fit(value) for fit in branches)

    def items(self, node: Node) -> Fits:
        fit = self.of(node.item)
        if node.kind == "map":
            return lambda value: (
                isinstance(value, Mapping)
                and all(isinstance(key, str) for key in value)
                and all(map(fit, value.values()))
            )
        return lambda value: isinstance(value, Sequence) and not isinstance(value, str) and all(map(fit, value))

    def record(self, node: Node) -> Fits:
        raise NotImplementedError


class _DataFits(_Fits):
    """Validation as in fastavro: a missing field counts as its default, or as None."""

    checks = DATUM

    def __init__(self, *, nulls: bool) -> None:
        super().__init__()
        self.nulls = nulls

    def may(self, node: Node) -> Fits:
        """A quick predicate that does not look inside the value; a value that fails it cannot fit."""
        if node.kind == "map":
            return lambda value: isinstance(value, Mapping)
        if node.kind == "array":
            return lambda value: isinstance(value, Sequence) and not isinstance(value, str)
        if node.kind != "record":
            return self.of(node)
        needed = frozenset(
            field.name
            for field in node.fields
            if field.default is MISSING and not (self.nulls and _nullable(field.node))
        )
        return lambda value: (
            isinstance(value, Mapping) and needed <= value.keys() and value.get("-type", node.name) == node.name
        )

    def leaf(self, node: Node) -> Fits:
        fits = super().leaf(node)
        if node.kind == "string":
            # Lone surrogates are detected when the text is written, as in fastavro.
            fits = lambda value: isinstance(value, str)  # noqa: E731
        if not node.logical:
            return fits
        prepare = preparer(node)

        def fits_prepared(value: Any) -> bool:
            try:
                return fits(prepare(value))
            except (ValueError, OverflowError):
                return False

        return fits_prepared

    def union(self, node: Node) -> Fits:
        plain = super().union(node)
        by_name = {branch.branch: self.of(branch) for branch in node.branches}

        def fits(value: Any) -> bool:
            if not isinstance(value, tuple):
                return plain(value)
            return len(value) == 2 and value[0] in by_name and by_name[value[0]](value[1])

        return fits

    def record(self, node: Node) -> Fits:
        fields = [(field, self.of(field.node)) for field in node.fields]

        def field_fits(value: Mapping[str, Any], field: Field, fit: Fits) -> bool:
            if field.name in value:
                return fit(value[field.name])
            return field.default is not MISSING or (self.nulls and fit(None))

        def fits(value: Any) -> bool:
            return (
                isinstance(value, Mapping)
                and value.get("-type", node.name) == node.name
                and all(field_fits(value, field, fit) for field, fit in fields)
            )

        return fits


def _nullable(node: Node) -> bool:
    return node.kind == "null" or any(map(_nullable, node.branches))


class _PlainFits(_Fits):
    """JSON without tags: a record must not have unknown fields; with `defaults` it may lack fields that have one."""

    def __init__(self, *, defaults: bool, checks: Mapping[str, Check] = JSON) -> None:
        super().__init__()
        self.defaults = defaults
        self.checks = checks

    def union(self, node: Node) -> Fits:
        plain = super().union(node)
        tagged = {branch.branch: self.of(branch) for branch in node.branches}

        def fits(value: Any) -> bool:
            if plain(value):
                return True
            if not isinstance(value, dict) or len(value) != 1:
                return False
            tag, inner = next(iter(value.items()))
            return tag in tagged and tagged[tag](inner)

        return fits

    def record(self, node: Node) -> Fits:
        fields = {field.name: (field, self.of(field.node)) for field in node.fields}

        def fits(value: Any) -> bool:
            return (
                isinstance(value, dict)
                and value.keys() <= fields.keys()
                and all(
                    fit(value[name]) if name in value else self.defaults and field.default is not MISSING
                    for name, (field, fit) in fields.items()
                )
            )

        return fits
