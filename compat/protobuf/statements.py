"""The statements of a `.proto` text, and edits of them."""

from __future__ import annotations

from collections.abc import Sequence

from compat.edits import TextEdit, indent_of, line_of
from compat.protobuf.schema import ProtobufSchema
from compat.protobuf.text.lexer import tokenize
from compat.protobuf.text.nodes import Message
from compat.schema import Pointer

_LABELS = frozenset({"optional", "required", "repeated"})


class Statements:
    """The statements of a schema's text; pointers are those of `places`."""

    def __init__(self, schema: ProtobufSchema) -> None:
        """Read the tokens of a schema whose source is text."""
        self.schema = schema
        self._text = schema.source
        self._tokens = tokenize(schema.source)

    def text(self, pointer: Pointer) -> str:
        """The text of a statement, from its first token to its last."""
        start, end = self._span(pointer)
        return self._text[start:end]

    def replace(self, pointer: Pointer, text: str) -> TextEdit:
        """Replace a statement; an empty text also removes its line."""
        start, end = self._span(pointer) if text else self._whole_lines(pointer)
        return TextEdit(start, end - start, text)

    def append_to(self, pointer: Pointer, text: str) -> TextEdit:
        """Add a statement at the end of a block, or of the file."""
        if not pointer:
            gap = "" if self._text.endswith("\n") else "\n"
            return TextEdit(len(self._text), 0, f"{gap}\n{text}\n")
        closing = self._offset(self._last(self.schema.places[pointer]))
        opening = self._text.rfind("{", 0, closing)
        if self._is_multi_line and not self._text[opening + 1 : closing].strip():
            return self._fill(pointer, opening + 1, closing, text)
        start, _ = line_of(self._text, closing)
        if self._text[start:closing].strip():
            return TextEdit(closing, 0, f"{'' if self._text[closing - 1].isspace() else ' '}{text} ")
        return TextEdit(start, 0, f"{self._inner_indent(pointer)}{text}\n")

    def prepend_to(self, pointer: Pointer, text: str) -> TextEdit:
        """Add statements at the beginning of a block; `{indent}` in them is replaced by the block's indentation."""
        opening = self.schema.places[pointer]
        while self._tokens[opening] != "{":
            opening += 1
        at = self._offset(opening) + 1
        _, end = line_of(self._text, at)
        indent = self._inner_indent(pointer)
        text = text.replace("{indent}", indent)
        closing = self._offset(self._last(self.schema.places[pointer]))
        if self._is_multi_line and not self._text[at:closing].strip():
            return self._fill(pointer, at, closing, text)
        if self._text[at:end].strip():
            return TextEdit(at, 0, " " + text.replace("\n", " ").replace(indent or " ", " "))
        return TextEdit(end, 0, f"{indent}{text}\n")

    @property
    def _is_multi_line(self) -> bool:
        return "\n" in self._text.strip()

    def _fill(self, pointer: Pointer, start: int, end: int, text: str) -> TextEdit:
        """Put the first statement into an empty block, on a line of its own."""
        outer = indent_of(self._text, self._offset(self.schema.places[pointer]))
        return TextEdit(start, end - start, f"\n{self._inner_indent(pointer)}{text}\n{outer}")

    def insert_after_syntax(self, text: str) -> TextEdit:
        """Add a statement after the syntax statement, or at the beginning of the file."""
        if self._tokens[0] not in {"syntax", "edition"}:
            return TextEdit(0, 0, f"{text}\n")
        end = self._offset(self._tokens.index(";")) + 1
        return TextEdit(end, 0, f"\n{text}")

    def label(self, pointer: Pointer) -> str:
        """The label of a field as written; empty if it has none."""
        token = self._tokens[self.schema.places[pointer]]
        return token if token in _LABELS else ""

    def replace_label(self, pointer: Pointer, label: str) -> TextEdit | None:
        """Change or remove a field's label; None if the field has the new label already."""
        at = self.schema.places[pointer]
        start = self._offset(at)
        before = self.label(pointer)
        if before == label:
            return None
        if not before:
            return TextEdit(start, 0, f"{label} ")
        length = len(before) if label else self._offset(at + 1) - start
        return TextEdit(start, length, label)

    def type_text(self, pointer: Pointer) -> str:
        """The type of a field as written."""
        start, end = self._type_span(pointer)
        return self._text[start:end]

    def replace_type(self, pointer: Pointer, text: str) -> TextEdit:
        """Change a field's type."""
        start, end = self._type_span(pointer)
        return TextEdit(start, end - start, text)

    def replace_name(self, pointer: Pointer, name: str) -> TextEdit:
        """Change the name of a field or an enum value."""
        at = self.schema.places[pointer]
        while self._tokens[at + 1] != "=":
            at += 1
        return TextEdit(self._offset(at), len(self._tokens[at]), name)

    def replace_number(self, pointer: Pointer, number: int) -> TextEdit:
        """Change the number of a field or an enum value."""
        at = self.schema.places[pointer]
        while self._tokens[at] != "=":
            at += 1
        return TextEdit(self._offset(at + 1), len(self._tokens[at + 1]), str(number))

    def move_out(self, oneof: Pointer, fields: Sequence[Pointer], members: int) -> tuple[TextEdit, ...]:
        """Move fields out of a oneof, to the place before it; a oneof without other members is removed."""
        start = self._offset(self.schema.places[oneof])
        indent = indent_of(self._text, start)
        label = "optional " if self.schema.tree.syntax in {None, "proto2"} else ""
        moved = "".join(f"{label}{self.text(field)}\n{indent}" for field in fields)
        if len(fields) == members:
            start, end = self._span(oneof)
            return (TextEdit(start, end - start, moved.rstrip()),)
        spans = [self._whole_lines(field) for field in fields]
        return (TextEdit(start, 0, moved), *(TextEdit(begin, end - begin, "") for begin, end in spans))

    def message(self, pointer: Pointer) -> Message | None:
        """The message at a pointer; None if there is none."""
        messages = self.schema.tree.messages
        message = None
        for name in pointer:
            message = next((inner for inner in messages if inner.name == name), None)
            if message is None:
                return None
            messages = message.messages
        return message

    def _offset(self, token: int) -> int:
        return self.schema.layout.offset(token)

    def _last(self, token: int) -> int:
        """The last token of the statement that begins with a token."""
        depth = 0
        at = token
        while True:
            lexeme = self._tokens[at]
            if lexeme == "{":
                depth += 1
            elif lexeme == "}":
                depth -= 1
                if depth == 0 and not self._is_option_value(token):
                    return at
            elif (lexeme == ";" and depth == 0) or not lexeme:
                return at
            at += 1

    def _is_option_value(self, token: int) -> bool:
        """Whether the braces in a statement belong to an option's value; then the statement ends with a semicolon."""
        at = token
        while self._tokens[at] not in {"{", ";", "="}:
            at += 1
        return self._tokens[at] == "=" and "group" not in self._tokens[token:at]

    def _span(self, pointer: Pointer) -> tuple[int, int]:
        first = self.schema.places[pointer]
        last = self._last(first)
        return self._offset(first), self._offset(last) + len(self._tokens[last])

    def _whole_lines(self, pointer: Pointer) -> tuple[int, int]:
        """A statement's span, extended to whole lines if they contain nothing else."""
        start, end = self._span(pointer)
        first, _ = line_of(self._text, start)
        _, last = line_of(self._text, end)
        is_alone = not self._text[first:start].strip() and not self._text[end:last].strip()
        return (first, last) if is_alone else (start, end)

    def _type_span(self, pointer: Pointer) -> tuple[int, int]:
        at = self.schema.places[pointer]
        first = at + 1 if self._tokens[at] in _LABELS else at
        equals = first
        while self._tokens[equals] != "=":
            equals += 1
        # The tokens before the equals sign are the type and the name.
        last = equals - 2
        return self._offset(first), self._offset(last) + len(self._tokens[last])

    def _inner_indent(self, pointer: Pointer) -> str:
        start = self._offset(self.schema.places[pointer])
        outer_indent = indent_of(self._text, start)
        offsets = [
            self._offset(token)
            for at, token in self.schema.places.items()
            if len(at) == len(pointer) + 1 and at[: len(pointer)] == pointer
        ]
        before = (self._text[line_of(self._text, offset)[0] : offset] for offset in offsets)
        # The members of a oneof belong to the message too, and are indented more.
        indents = [blanks for blanks in before if blanks.isspace() and len(blanks) > len(outer_indent)]
        return min(indents, key=len) if indents else f"{outer_indent}  "
