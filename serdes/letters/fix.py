"""The repair of a letter's bytes: another schema id, or a function of a Python file.

The file is the caller's own program and runs in this process, as `python FILE` would. It defines

    def fix(value: bytes, letter: Letter) -> bytes | None: ...
    def fix_key(key: bytes, letter: Letter) -> bytes | None: ...

or one of them. They return the bytes to send; None leaves the letter as it is.
"""

from __future__ import annotations

import runpy
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from serdes.error import ConfigError
from serdes.letters.letter import Letter
from serdes.message import wire

#: Returns the key and the value to send.
Fix = Callable[[Letter], tuple[bytes | None, bytes | None]]

_FUNCTIONS = {"key": "fix_key", "value": "fix"}


@dataclass(unsafe_hash=True)
class NotFixed(Exception):
    """A letter that a fix leaves alone, or fails on."""

    reason: str

    def __str__(self) -> str:
        return self.reason


def as_it_is(letter: Letter) -> tuple[bytes | None, bytes | None]:
    """The key and the value unchanged."""
    return letter.key, letter.value


def with_schema_id(schema_id: int, part: str) -> Fix:
    """A fix that puts an id into the frame of the key or value, or a frame before bytes that have none.

    Args:
        schema_id: The id of the schema that the payload was really written with.
        part: `key` or `value`.
    """

    def fix(letter: Letter) -> tuple[bytes | None, bytes | None]:
        data = getattr(letter, part)
        if data is None:
            raise NotFixed(f"there is no {part} to put a schema id into")
        is_framed = len(data) >= wire.V0_SIZE and data[0] == wire.MAGIC_V0
        fixed = wire.prefix(schema_id) + (data[wire.V0_SIZE :] if is_framed else data)
        return (fixed, letter.value) if part == "key" else (letter.key, fixed)

    return fix


def from_script(path: str, option: str = "--fix") -> Fix:
    """The fix that a Python file defines.

    Args:
        path: The file.
        option: The command's option, for errors.

    Raises:
        ConfigError: the file cannot be run, or defines neither `fix` nor `fix_key`.
    """
    if not Path(path).is_file():
        raise ConfigError(option, f"there is no file {path}")
    try:
        defined = runpy.run_path(path, run_name="magicbyte_fix")
    except Exception as error:
        raise ConfigError(option, f"{path} cannot be run: {_last_line(error, path)}") from error
    functions = {part: defined.get(name) for part, name in _FUNCTIONS.items()}
    if not any(map(callable, functions.values())):
        raise ConfigError(option, f"{path} defines neither fix(value, letter) nor fix_key(key, letter)")

    def fix(letter: Letter) -> tuple[bytes | None, bytes | None]:
        key = _fixed(functions["key"], "key", letter.key, letter, path)
        return key, _fixed(functions["value"], "value", letter.value, letter, path)

    return fix


def _fixed(function: Any, part: str, data: bytes | None, letter: Letter, path: str) -> bytes | None:
    """The part as the function returns it; a part that is not there stays so."""
    if function is None or data is None:
        return data
    try:
        fixed = function(data, letter)
    except Exception as error:
        raise NotFixed(f"{_FUNCTIONS[part]} failed: {_last_line(error, path)}") from error
    if fixed is None:
        raise NotFixed(f"{_FUNCTIONS[part]} left it")
    if not isinstance(fixed, bytes):
        raise NotFixed(f"{_FUNCTIONS[part]} returned {type(fixed).__name__}, not bytes")
    return fixed


def _last_line(error: Exception, path: str) -> str:
    """The error with the last line of the file that it went through."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    at = f"line {lines[-1]}: " if lines else ""
    return f"{at}{type(error).__name__}: {error}"
