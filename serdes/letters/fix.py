"""The repair of a letter: another schema in its frame, or a function of a Python file for its bytes.

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
from typing import Any, NamedTuple

from serdes.error import ConfigError, SchemaNotFound
from serdes.letters.headers import Header
from serdes.letters.letter import Letter
from serdes.message import wire


class Fixed(NamedTuple):
    """The record that is sent for a letter: key, value, and the record's own headers."""

    key: bytes | None
    value: bytes | None
    headers: list[Header]


Fix = Callable[[Letter], Fixed]

_FUNCTIONS = {"key": "fix_key", "value": "fix"}


@dataclass(unsafe_hash=True)
class NotFixed(Exception):
    """A letter that a fix leaves alone, or fails on."""

    reason: str

    def __str__(self) -> str:
        return self.reason


def as_it_is(letter: Letter) -> Fixed:
    """The key, the value and the headers unchanged."""
    return Fixed(letter.key, letter.value, letter.original_headers)


def with_schema_id(schema_id: int, part: str, guid_of: Callable[[int], str | None]) -> Fix:
    """A fix that puts a schema into the frame of the key or value, or a frame before bytes that have none.

    A frame stays where it is: before the payload, or in a header, which then gets the schema's guid.

    Args:
        schema_id: The id of the schema that the payload was really written with.
        part: `key` or `value`.
        guid_of: Asks the registry for the guid of a schema, for frames in headers; raises SchemaNotFound.
    """
    name = wire.header_name(is_key=part == "key")

    def fix(letter: Letter) -> Fixed:
        data: bytes | None = getattr(letter, part)
        if data is None:
            raise NotFixed(f"there is no {part} to put a schema id into")
        headers = letter.original_headers
        header = wire.find_header(headers, name)
        if header is not None:
            try:
                guid = guid_of(schema_id)
            except SchemaNotFound as error:
                raise NotFixed(error.message) from error
            if guid is None:
                raise NotFixed(f"the registry gives no guid of schema {schema_id} for the header {name}")
            wire.write_header(headers, name, wire.guid_bytes(guid) + header[wire.V1_SIZE :])
            return Fixed(letter.key, letter.value, headers)
        is_framed = len(data) >= wire.V0_SIZE and data[0] == wire.MAGIC_V0
        fixed = wire.prefix(schema_id) + (data[wire.V0_SIZE :] if is_framed else data)
        return Fixed(fixed, letter.value, headers) if part == "key" else Fixed(letter.key, fixed, headers)

    return fix


def from_script(path: str, option: str = "--fix-with") -> Fix:
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

    def fix(letter: Letter) -> Fixed:
        key = _fixed(functions["key"], "key", letter.key, letter, path)
        value = _fixed(functions["value"], "value", letter.value, letter, path)
        return Fixed(key, value, letter.original_headers)

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
