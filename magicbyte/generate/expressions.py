"""Python expressions under construction, and their layout: the same as that of `ruff format`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from magicbyte.generate.literals import width

#: The columns of a line.
COLUMNS = 88
STEP = "    "


@dataclass(frozen=True, slots=True)
class Text:
    """Source text that is never broken, such as a literal."""

    text: str


@dataclass(frozen=True, slots=True)
class Import:
    """A name of a module, imported under a name that nothing else in the module has."""

    module: str
    name: str


@dataclass(frozen=True, slots=True)
class ClassName:
    """A generated class.

    Attributes:
        module: The key of its module.
        name: Its Python name.
        member: The name of a member of it; empty for the class itself.
    """

    module: str
    name: str
    member: str = ""


@dataclass(frozen=True, slots=True)
class Subscript:
    """`base[arguments]`."""

    base: Expression
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Either:
    """`A | B`."""

    members: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """A call; an argument without a name has an empty one."""

    function: Expression
    arguments: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True, slots=True)
class Display:
    """A list, a tuple or a dict; an item has a key in a dict alone."""

    brackets: str
    items: tuple[tuple[Expression | None, Expression], ...]


@dataclass(frozen=True, slots=True)
class Lambda:
    """A function without parameters."""

    body: Expression


Expression = Text | Import | ClassName | Subscript | Either | Call | Display | Lambda
#: Returns the text of an imported name or a class in the module.
Spell = Callable[[Import | ClassName], str]

NONE = Text("None")


def either(members: Sequence[Expression]) -> Expression:
    """The union of types, each once; None comes last."""
    flat: dict[Expression, None] = {}
    for member in members:
        flat.update(dict.fromkeys(member.members if isinstance(member, Either) else (member,)))
    in_order = [*(member for member in flat if member != NONE), *(member for member in flat if member == NONE)]
    return in_order[0] if len(in_order) == 1 else Either(tuple(in_order))


def leaves(expression: Expression) -> Iterator[Import | ClassName]:
    """The imported names and classes in an expression."""
    match expression:
        case Import() | ClassName():
            yield expression
        case Subscript(base, arguments):
            for part in (base, *arguments):
                yield from leaves(part)
        case Either(members):
            for part in members:
                yield from leaves(part)
        case Call(function, named):
            for part in (function, *(value for _, value in named)):
                yield from leaves(part)
        case Display(_, items):
            for key, value in items:
                yield from leaves(value) if key is None else (*leaves(key), *leaves(value))
        case Lambda(body):
            yield from leaves(body)


def flat(expression: Expression, spell: Spell) -> str:
    """The expression on one line."""
    match expression:
        case Text(text):
            return text
        case Import() | ClassName():
            return spell(expression)
        case Subscript(base, arguments):
            return f"{flat(base, spell)}[{', '.join(flat(part, spell) for part in arguments)}]"
        case Either(members):
            return " | ".join(flat(part, spell) for part in members)
        case Lambda(body):
            return f"lambda: {flat(body, spell)}"
    opening, items, closing = _bracketed(expression, spell)
    inside = ", ".join(prefix + flat(value, spell) for prefix, value in items)
    only = "," if opening == "(" and len(items) == 1 else ""
    return f"{opening}{inside}{only}{closing}"


def _bracketed(expression: Call | Display, spell: Spell) -> tuple[str, list[tuple[str, Expression]], str]:
    if isinstance(expression, Call):
        named = [(f"{name}=" if name else "", value) for name, value in expression.arguments]
        return f"{flat(expression.function, spell)}(", named, ")"
    items = [("" if key is None else f"{flat(key, spell)}: ", value) for key, value in expression.items]
    return expression.brackets[0], items, expression.brackets[1]


def laid_out(expression: Expression, spell: Spell, indent: str, before: int, after: int = 0) -> str:
    """The expression, broken into lines if it does not fit.

    Args:
        expression: The expression.
        spell: Spells imported names and classes.
        indent: The indentation of its line.
        before: The columns before it on its line.
        after: The columns that follow its end.
    """
    text = flat(expression, spell)
    if before + width(text) + after <= COLUMNS:
        return text
    inner = indent + STEP
    match expression:
        case Subscript(base, arguments):
            return f"{flat(base, spell)}[\n{_lines([('', part) for part in arguments], spell, inner)}{indent}]"
        case Either(members):
            lines = [laid_out(members[0], spell, indent, before)]
            for index, part in enumerate(members[1:], 2):
                end = after if index == len(members) else 0
                lines.append(f"{indent}| {laid_out(part, spell, indent, len(indent) + 2, end)}")
            return "\n".join(lines)
        case Call() | Display():
            opening, items, closing = _bracketed(expression, spell)
            if not items:
                return text
            return f"{opening}\n{_lines(items, spell, inner, ends_with_comma=True)}{indent}{closing}"
        case Lambda(body):
            return f"lambda: {laid_out(body, spell, indent, before + len('lambda: '), after)}"
    return text


def _lines(items: Sequence[tuple[str, Expression]], spell: Spell, indent: str, *, ends_with_comma: bool = False) -> str:
    # One item in a subscript has no comma: that would make it a tuple.
    comma = "," if len(items) > 1 or ends_with_comma else ""
    return "".join(
        f"{indent}{prefix}{laid_out(value, spell, indent, len(indent) + width(prefix), len(comma))}{comma}\n"
        for prefix, value in items
    )


def annotated(name: str, kind: Expression, value: Expression | None, field: Expression, spell: Spell) -> str:
    """The line `name: kind = value` of a class, broken into lines if it does not fit.

    Args:
        name: The field's name.
        kind: Its type.
        value: Its default; None if it has none.
        field: The function `dataclasses.field`, which takes a default that does not fit.
        spell: Spells imported names and classes.
    """
    head = f"{STEP}{name}: "
    line = head + flat(kind, spell) + ("" if value is None else f" = {flat(value, spell)}")
    if width(line) <= COLUMNS:
        return line
    call = value if value is None or isinstance(value, Call) else Call(field, (("default", value),))
    is_short = isinstance(value, Text) and len(value.text) <= 10
    start = f"{head}{flat(kind, spell)} = {flat(field, spell)}("
    if call is not None and width(start) <= COLUMNS and not (is_short and isinstance(kind, Either | Subscript)):
        return f"{head}{flat(kind, spell)} = {_exploded(call, spell)}"
    if isinstance(kind, Either):
        inner = laid_out(kind, spell, STEP * 2, len(STEP * 2))
        broken = f"{head}(\n{STEP * 2}{inner}\n{STEP})"
    elif isinstance(kind, Subscript):
        listed = _lines([("", part) for part in kind.arguments], spell, STEP * 2)
        broken = f"{head}{flat(kind.base, spell)}[\n{listed}{STEP}]"
    else:
        broken = head + flat(kind, spell)
        return broken if call is None else f"{broken} = {_exploded(call, spell)}"
    if value is None:
        return broken
    tail = f"{STEP}) = {flat(value, spell)}"
    return f"{broken} = {flat(value, spell) if width(tail) <= COLUMNS or call is None else _exploded(call, spell)}"


def _exploded(call: Expression, spell: Spell) -> str:
    assert isinstance(call, Call)
    opening, items, closing = _bracketed(call, spell)
    return f"{opening}\n{_lines(items, spell, STEP * 2, ends_with_comma=True)}{STEP}{closing}"
