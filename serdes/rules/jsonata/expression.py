"""Compiled JSONATA expressions, on jsonata-python; safe to share between threads."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from functools import cache
from threading import local
from typing import Any

from serdes.rules.jsonata.bounded_functions import bounded_functions
from serdes.rules.jsonata.bounds import Bounds, BoundsExceeded, Watch
from serdes.rules.jsonata.traced_values import copied


class JsonataInvalid(ValueError):
    """A text that is no JSONATA expression; the text says where and why."""


class JsonataFailed(Exception):
    """An evaluation failed; the text says why, without the message's values where we can tell."""


class Nothing:
    """The result of an expression that selects nothing; null is None."""


NOTHING = Nothing()


class JsonataExpression:
    """An expression that is evaluated within bounds.

    jsonata-python keeps the state of an evaluation in the compiled expression, so each thread compiles its own.

    Args:
        text: The expression.
        bounds: The bounds of each evaluation.

    Raises:
        JsonataInvalid: The text is no expression.
        ImportError: The extra `rules` is not installed.
    """

    def __init__(self, text: str, bounds: Bounds | None = None) -> None:
        self.text = text
        self._bounds = bounds or Bounds()
        self._threads = local()
        self._compiled()

    def evaluate(self, document: Any) -> Any:
        """Return the result of the expression on a document, or NOTHING.

        The result may share objects with the document, so the caller passes a document that nobody else uses.

        Raises:
            JsonataFailed: The expression fails on this document, or exceeds a bound.
        """
        compiled, functions = self._compiled()
        watch = Watch(self._bounds)
        frame = compiled.create_frame()
        frame.set_evaluate_entry_callback(watch.enter)
        frame.set_evaluate_exit_callback(watch.leave)
        for name, function in functions.items():
            function.watch = watch
            frame.bind(name, function)
        # The library evaluates with the expression that the thread compiled or evaluated last.
        _library().Jsonata.CURRENT.jsonata = compiled
        try:
            result = _without_null_values(compiled.evaluate(document, frame))
        except RecursionError:
            raise JsonataFailed("it is nested too deeply") from None
        except MemoryError:
            raise JsonataFailed("it needs too much memory") from None
        except BoundsExceeded as error:
            raise JsonataFailed(str(error)) from None
        except Exception as error:  # noqa: BLE001  # whatever the library raises stops the message
            # The library's own text may have values, and a log of this error would show its causes.
            raise JsonataFailed(watch.exceeded or _text(error)) from None
        if watch.exceeded is not None:
            raise JsonataFailed(watch.exceeded)
        return result

    def _compiled(self) -> tuple[Any, Mapping[str, Any]]:
        """The thread's expression, and the functions that replace the library's."""
        compiled: tuple[Any, Mapping[str, Any]] | None = getattr(self._threads, "compiled", None)
        if compiled is None:
            compiled = self._threads.compiled = (_compile(self.text), bounded_functions(_library()))
        return compiled


def _compile(text: str) -> Any:
    library = _library()
    try:
        compiled = library.Jsonata(text, _linear_pattern)
    except RecursionError:
        raise JsonataInvalid("it is nested too deeply") from None
    except JsonataInvalid:
        raise
    except Exception as error:
        raise JsonataInvalid(_text(error)) from error
    # Null and nothing differ: a rule that selects nothing leaves the message, and one that returns null fails.
    compiled.set_output_convert_nulls(False)
    return compiled


@cache
def _library() -> Any:
    """jsonata-python, without its side effects, and with a transform operator that keeps the classes of values.

    The library may lower the recursion limit, and it reports an unknown function on standard output. Its transform
    operator copies a value through JSON text.
    """
    limit = sys.getrecursionlimit()
    from jsonata import jsonata as library  # noqa: PLC0415  an extra, and only users of JSONATA need it

    sys.setrecursionlimit(max(limit, sys.getrecursionlimit()))
    # Its module then has a name that hides the builtin.
    library.print = _print_nothing
    library.functions.Functions.function_clone = staticmethod(copied)
    return library


def _print_nothing(*_: Any, **__: Any) -> None:
    """Replace `print` in the library, which reports an unknown function on the standard output of the process."""


def _without_null_values(result: Any) -> Any:
    from jsonata.utils import Utils  # noqa: PLC0415  as above

    return NOTHING if result is None else Utils.convert_nulls(result)


#: The places of an error template, which the library fills.
_PLACE = re.compile(r"\{{2,3}(\w+)\}{2,3}")
#: Those that name parts of the expression; others have values of the message.
_OF_EXPRESSION = frozenset({"token", "index", "type"})
#: The code of `$error`, whose text is the rule's own.
_ERROR_FUNCTION = "D3137"
#: The code of a function without its argument: the library puts the value around the call in the place of the index.
_NO_CONTEXT = "T0411"
#: Python's exceptions whose texts have no values.
_SAFE = (ZeroDivisionError, OverflowError, TypeError)


def _text(error: Exception) -> str:
    """The error's text on one line, with the position in the expression, and without values of the message."""
    code = getattr(error, "error", None)
    if code is None:
        return str(error) if isinstance(error, _SAFE) else f"a function raised {type(error).__name__}"
    templates: Any = getattr(error, "error_codes", {})
    template = templates.get(code, code)
    is_safe = code != _NO_CONTEXT and (
        str(code).startswith("S") or code == _ERROR_FUNCTION or _OF_EXPRESSION.issuperset(_PLACE.findall(template))
    )
    # Some of the library's errors have their text in place of a code.
    text = str(error) if is_safe and code in templates else _PLACE.sub("...", template)
    location = getattr(error, "location", -1)
    at = f" (at character {location})" if isinstance(location, int) and location >= 0 else ""
    return " ".join(text.split()) + at


def _linear_pattern(pattern: str, flags: Any) -> Any:
    """Compile a pattern with RE2, whose time grows linearly with the text; Python's `re` may never end."""
    try:
        import re2  # noqa: PLC0415  an extra, and only expressions with patterns need it
    except ImportError:
        raise JsonataInvalid(
            "its regular expression needs google-re2: install the extra rules (pip install magicbyte[rules])"
        ) from None
    options = re2.Options()
    options.case_sensitive = not flags.case_insensitive
    options.never_nl = False
    options.log_errors = False
    try:
        return re2.compile(f"(?m){pattern}" if flags.multiline else pattern, options)
    except re2.error as error:
        raise JsonataInvalid(f"RE2 cannot compile its regular expression /{pattern:.80}/: {error}") from None
