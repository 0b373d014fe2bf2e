"""Source text under construction: lines at their depth, the objects they mention, and names that no schema chose.

Nothing of a schema reaches the text but as a literal (`repr` of a str, int, float or bytes) or as an object bound to a
name made here, so no schema can put code of its own into it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

#: Deeper nesting becomes a function of its own: Python's compiler bounds nested blocks.
MAX_DEPTH = 4


class Source:
    """Functions being written, one inside the other's making; `bind` and `fresh` give the only names."""

    def __init__(self, **known: Any) -> None:
        self.objects: dict[str, Any] = {"__builtins__": __builtins__, **known}
        self._done: list[str] = []
        self._lines: list[str] = []
        self._indent = ""
        self._count = 0

    def fresh(self, stem: str) -> str:
        """A new name that begins with the stem."""
        self._count += 1
        return f"{stem}{self._count}"

    def bind(self, value: Any) -> str:
        """A new name for an object."""
        name = self.fresh("K")
        self.objects[name] = value
        return name

    def line(self, text: str) -> None:
        """One line at the current depth."""
        self._lines.append(self._indent + text)

    def hole(self) -> int:
        """A line at the current depth to be filled in when what follows is known."""
        self.line("")
        return len(self._lines) - 1

    def fill(self, hole: int, text: str) -> None:
        """The text of a hole's line; the function being written must still be the one that has it."""
        self._lines[hole] += text

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Lines under a head such as `if x:`."""
        self.line(head)
        outer, self._indent = self._indent, self._indent + " "
        yield
        self._indent = outer

    @contextmanager
    def function(self, head: str) -> Iterator[None]:
        """Lines of a function that stands beside those being written."""
        outer = self._lines, self._indent
        self._lines, self._indent = [], ""
        with self.block(f"def {head}:"):
            yield
        self._done += self._lines
        self._lines, self._indent = outer

    @property
    def text(self) -> str:
        """The functions finished so far."""
        return "\n".join(self._done)

    def compile(self, name: str) -> Callable[..., Any]:
        """The function of that name, with all others behind it."""
        exec(compile(self.text, "<avro codec>", "exec"), self.objects)  # noqa: S102  (see this module's docstring)
        function: Callable[..., Any] = self.objects[name]
        return function
