"""Python expressions under construction, and their layout: the same as that of `ruff format`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from magicbyte.generate.literals import width

#: The columns of a line.
COLUMNS = 88
STEP = "    "
#: The longest default that a line is broken for only behind its type.
_SHORT = 10


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


def leaves(expression: Expression) -> Iterator[Import | ClassName]:  # noqa: C901  # one case for each form
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


def laid_out(expression: Expression, spell: Spell, indent: str, before: int, after: int = 0) -> str:  # noqa: PLR0911  # one case for each form
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
            if isinstance(body, Text | Import | ClassName):
                return f"lambda: (\n{inner}{flat(body, spell)}\n{indent})"
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
    head, plain = f"{STEP}{name}: ", flat(kind, spell)
    tail = "" if value is None else f" = {flat(value, spell)}"
    if width(head + plain + tail) <= COLUMNS:
        return head + plain + tail
    if value is None:
        parts = width(f"{head}(") <= COLUMNS
        if not _may_break(kind) and not parts:
            return head + plain
        opens = isinstance(kind, Subscript) and (not parts or width(f"{head}{flat(kind.base, spell)}[") <= COLUMNS)
        return head + (_broken(kind, spell) if opens else _in_parentheses(kind, spell))
    is_short = isinstance(value, Text) and len(value.text) <= _SHORT
    is_call = isinstance(value, Call) and not isinstance(value.function, Subscript)
    call = value if isinstance(value, Call) and is_call else Call(field, (("default", value),))
    if not is_short and width(f"{head}{plain} = {_opening(call, spell)}") <= COLUMNS:
        return f"{head}{plain} = {_exploded(call, spell, STEP)}"
    inner = STEP * 2
    if width(f"{head}{plain} = (") <= COLUMNS:
        fits = is_short or width(inner + flat(call, spell)) <= COLUMNS
        last = flat(value if is_short else call, spell) if fits else _exploded(call, spell, inner)
        return f"{head}{plain} = (\n{inner}{last}\n{STEP})"
    fits = is_short or (_may_break(kind) and width(f"{STEP}) = {flat(call, spell)}") <= COLUMNS)
    last = flat(value if is_short else call, spell) if fits else _exploded(call, spell, STEP)
    return f"{head}{_broken(kind, spell)} = {last}"


def _may_break(kind: Expression) -> bool:
    return isinstance(kind, Either | Subscript)


def _in_parentheses(kind: Expression, spell: Spell) -> str:
    inner = STEP * 2
    return f"(\n{inner}{laid_out(kind, spell, inner, len(inner))}\n{STEP})"


def _broken(kind: Expression, spell: Spell) -> str:
    """A field's type on several lines, if it may be broken."""
    inner = STEP * 2
    match kind:
        case Either():
            return _in_parentheses(kind, spell)
        case Subscript(base, arguments):
            return f"{flat(base, spell)}[\n{_lines([('', part) for part in arguments], spell, inner)}{STEP}]"
    return flat(kind, spell)


def _opening(call: Call, spell: Spell) -> str:
    return _bracketed(call, spell)[0]


def _exploded(call: Call, spell: Spell, indent: str) -> str:
    """A call with an argument on each line."""
    opening, items, closing = _bracketed(call, spell)
    return f"{opening}\n{_lines(items, spell, indent + STEP, ends_with_comma=True)}{indent}{closing}"
