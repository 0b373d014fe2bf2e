"""Source text under construction: indented lines, the objects that they mention, and generated names.

Parts of a schema get into the text only as literals (`repr` of a str, int, float or bytes) or as objects bound to names
made here, so no schema can inject code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

#: Deeper nesting becomes a separate function, because Python's compiler limits nested blocks.
MAX_DEPTH = 4


class SourceText:
    """The text of functions; one may be started while another is being written. `bind` and `fresh` make all names."""

    def __init__(self, **objects: Any) -> None:
        self.objects: dict[str, Any] = {"__builtins__": __builtins__, **objects}
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
        """The index of an empty line at the current depth, to be filled in later."""
        self.line("")
        return len(self._lines) - 1

    def fill(self, hole: int, text: str) -> None:
        """Fills in a hole; it must be in the function that is being written."""
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
        """Lines of a function that is separate from the one being written."""
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
        """Compiles all functions and returns the one of this name."""
        exec(compile(self.text, "<avro codec>", "exec"), self.objects)  # noqa: S102  (see this module's docstring)
        function: Callable[..., Any] = self.objects[name]
        return function
