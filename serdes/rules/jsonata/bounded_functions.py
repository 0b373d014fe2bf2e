"""Functions of JSONATA whose own implementation may take all memory or time: `$pad` and `$replace`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from serdes.rules.jsonata.bounds import Watch


def bounded_functions(library: Any) -> Mapping[str, Any]:
    """The functions by name, for one thread; each has the `watch` of the evaluation as an attribute.

    Args:
        library: The module of jsonata-python.
    """
    native: Any = library.Jsonata.JNativeFunction
    functions: Any = library.functions.Functions

    class Pad(native):  # type: ignore[misc]  # the library has no types
        """`$pad`, which checks the width before it fills the memory."""

        watch: Watch

        def call(self, focus: Any, args: Any) -> Any:
            if isinstance(args, list) and len(args) > 1 and isinstance(args[1], int | float):
                self.watch.require_characters(abs(args[1]))
            return super().call(focus, args)

    class Replace(native):  # type: ignore[misc]  # as above
        """`$replace`; the library copies the rest of the text for each text that it replaces."""

        watch: Watch

        def call(self, focus: Any, args: Any) -> Any:
            text, pattern, new, limit = [*args, None, None, None, None][:4]
            if not (isinstance(text, str) and isinstance(pattern, str) and isinstance(new, str) and pattern):
                return super().call(focus, args)
            if limit is not None and (not isinstance(limit, int) or limit < 1):
                return super().call(focus, args)
            # The library expands `$0` and `$$`.
            expanded = str(super().call(focus, [pattern, pattern, new, None]))
            count = text.count(pattern) if limit is None else min(limit, text.count(pattern))
            self.watch.require_characters(len(text) + count * (len(expanded) - len(pattern)))
            return expanded.join(text.split(pattern, -1 if limit is None else limit))

    return {
        "pad": Pad("pad", "<s-ns?:s>", functions, None),
        "replace": Replace("replace", "<s-(sf)(sf)n?:s>", functions, None),
    }
