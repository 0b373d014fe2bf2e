"""Lists the differences between a reader schema and a writer schema, in the reference's order."""

from __future__ import annotations

from dataclasses import dataclass, field

from compat.budget import Budget
from compat.difference import NEVER, Difference
from compat.protobuf.program.builtin import is_builtin
from compat.protobuf.rules.walk import STEPS_A_FIELD, Content, Steps, Walk, walk_files, walk_imported
from compat.protobuf.schema import ProtobufSchema
from compat.schema import ParsedSchema

#: The differences of an imported message are repeated for each field of its type, up to this number in all.
MAX_REPEATED = 10_000
#: The steps for comparing two files of a program, and how many repeated differences one step pays for.
_STEPS_A_FILE = 4
_REPEATED_A_STEP = 32


def differences(reader: ParsedSchema, writer: ParsedSchema, budget: Budget | None = None) -> list[Difference]:
    """The differences of a reader schema from a writer schema, including harmless ones; see SchemaFormat.

    Args:
        reader: The schema that data is read with; a ProtobufSchema.
        writer: The schema that data was written with; a ProtobufSchema.
        budget: Pays for the work.

    Raises:
        InvalidSchema: A schema that one of them refers to is invalid.
        TooMuchWork: The comparison exceeds the budget.
    """
    if not isinstance(reader, ProtobufSchema) or not isinstance(writer, ProtobufSchema):
        raise TypeError("both schemas must be of type PROTOBUF")
    return _Comparison(budget or Budget()).run(walk_files(reader.program, writer.program))


@dataclass
class _Comparison:
    """The walk over two schemas.

    Chains of types in other files may be arbitrarily deep, so they are walked with an explicit stack. Each pair is
    walked once.
    """

    budget: Budget
    compared: dict[tuple[str, str], list[Difference]] = field(default_factory=dict)
    in_progress: set[tuple[str, str]] = field(default_factory=set)
    repeated: int = 0

    def run(self, walk: Walk) -> list[Difference]:
        root_differences: list[Difference] = []
        stack: list[tuple[Walk, list[Difference], tuple[str, str]]] = [(walk, root_differences, ("", ""))]
        reply: bool | None = None
        while stack:
            current, collected, key = stack[-1]
            try:
                event = next(current) if reply is None else current.send(reply)
            except StopIteration:
                stack.pop()
                if stack:
                    self.in_progress.discard(key)
                    self.compared[key] = collected
                    reply = self.report(stack[-1][1], collected)
                continue
            reply = None
            if isinstance(event, Steps):
                self.budget.spend(event.count)
                continue
            if isinstance(event, Difference):
                self.budget.spend(STEPS_A_FIELD)
                collected.append(event)
                continue
            pair = _key(event)
            self.budget.spend(STEPS_A_FIELD + len(self.compared.get(pair, ())) // _REPEATED_A_STEP)
            if pair in self.compared:
                self.repeated += len(self.compared[pair])
                reply = self.report(collected, self.compared[pair], silent=self.repeated > MAX_REPEATED)
            elif pair in self.in_progress:
                reply = False  # the pair is being compared further up, which reports its differences
            elif _same_files(event, self.budget):
                self.compared[pair] = []
                reply = False
            else:
                self.in_progress.add(pair)
                stack.append((walk_imported(event), [], pair))
        return root_differences

    @staticmethod
    def report(collected: list[Difference], more: list[Difference], *, silent: bool = False) -> bool:
        """Add an imported message's differences to those of a field's message; True if any of them breaks a reader."""
        if not silent:
            collected.extend(more)
        return any(difference.rule.allowed is NEVER for difference in more)


def _key(content: Content) -> tuple[str, str]:
    writer, reader = content.writer.symbol, content.reader.symbol
    return (writer.full_name if writer else "", reader.full_name if reader else "")


def _same_files(content: Content, budget: Budget) -> bool:
    """Whether the types' files are equal, and all files that they import too."""
    old, new = content.writer.symbol, content.reader.symbol
    if old is None or new is None:
        return False
    old_program, new_program = content.writer.place.program, content.reader.place.program
    seen: set[str] = set()
    queue = [(old.unit, new.unit)]
    while queue:
        first, second = queue.pop()
        budget.spend(_STEPS_A_FILE)
        if first.path in seen or (first is second and is_builtin(first)):
            continue
        seen.add(first.path)
        if first.path != second.path or first.text != second.text:
            return False
        if first.text is None and first.tree != second.tree:
            return False
        for entry in first.tree.imports:
            inner = old_program.units.get(entry.path), new_program.units.get(entry.path)
            if inner[0] is None or inner[1] is None:
                if inner[0] is not inner[1]:
                    return False
                continue
            queue.append((inner[0], inner[1]))
    return True


def message(difference: Difference, reader: str, writer: str) -> str:
    """The reference's message for a difference; `reader` and `writer` name the two schemas."""
    description = difference.fill(difference.rule.description, reader, writer)
    return f'{{errorType:"{difference.rule.name}", description:"{description}"}}'
