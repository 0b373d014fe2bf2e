"""The position of the first error in a JSON text: the path of the value, the byte, and the reason."""

from __future__ import annotations

import json
import re

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[][{},:]|[^\s"\][{},:]+')


def json_stop(data: bytes) -> tuple[str, int, str] | None:
    """The path, byte and reason of the first fault of a JSON text in UTF-8; None if it has none."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        return _path(data[: error.start].decode()), error.start, f"no UTF-8: {error.reason}"
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return _path(text[: error.pos]), len(text[: error.pos].encode()), error.msg
    except RecursionError:
        return "$", 0, "nested too deeply"
    except ValueError:
        # json.loads refuses whole numbers with over 4300 digits, and does not say where they are.
        return "$", 0, "a number has too many digits"
    return None


def _path(text: str) -> str:
    """The path of the value that a text breaks off in."""
    steps: list[str | int] = []
    key = ""
    for word in _TOKEN.findall(text):
        match word:
            case "{":
                steps.append("")
            case "[":
                steps.append(0)
            case "}" | "]" if steps:
                steps.pop()
            case ":" if steps:
                steps[-1] = key
            case "," if steps:
                last = steps[-1]
                steps[-1] = last + 1 if isinstance(last, int) else ""
            case _ if word.startswith('"'):
                key = word[1:-1]
    return "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps if step != "")
