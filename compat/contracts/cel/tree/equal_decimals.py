"""Makes `==` and `!=` compare decimals as numbers; the engine would compare their scales, too."""

from __future__ import annotations

from typing import Any

from compat.contracts.cel.data.decimals import DECIMAL
from compat.contracts.cel.functions.table import EQUAL_DECIMALS, PREFIX
from compat.contracts.cel.tree.walk import descendants

_EQUALITIES = frozenset({"_==_", "_!=_"})


def equal_decimals(tree: Any) -> None:
    """Change a checked tree so that it compares decimals by their values.

    Args:
        tree: A `cel.expr.CheckedExpr`.
    """
    for part in list(descendants(tree.expr)):
        if _compares_decimals(part, tree.type_map):
            _rewrite(part, tree)


def _compares_decimals(part: Any, types: Any) -> bool:
    if part.WhichOneof("expr_kind") != "call_expr" or part.call_expr.function not in _EQUALITIES:
        return False
    return any(types[side.id].message_type == DECIMAL for side in part.call_expr.args if side.id in types)


def _rewrite(part: Any, tree: Any) -> None:
    negated = part.call_expr.function == "_!=_"
    equality = part
    if negated:
        highest = max(*tree.type_map, *tree.reference_map, part.id)
        equality = type(part)(id=highest + 1, call_expr=part.call_expr)
        tree.type_map[equality.id].CopyFrom(tree.type_map[part.id])
        part.call_expr.Clear()
        part.call_expr.function = "!_"
        tree.reference_map[part.id].CopyFrom(type(tree.reference_map[part.id])(overload_id=["logical_not"]))
    equality.call_expr.function = EQUAL_DECIMALS
    reference = tree.reference_map[equality.id]
    reference.Clear()
    reference.overload_id.append(f"{PREFIX}decimals_equal_dyn_dyn")
    if negated:
        part.call_expr.args.append(equality)
