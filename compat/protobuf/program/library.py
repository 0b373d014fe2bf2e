"""The files that a schema can use: those of its references, and the built-in ones."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property

from compat.protobuf.descriptor.reading import read
from compat.protobuf.program.builtin import builtin, builtin_symbols
from compat.protobuf.program.unit import Symbol, Unit
from compat.schema import PROTOBUF, InvalidSchema
from compat.text_cache import TextCache


class Library:
    """The files of a schema's references by import path; each is parsed when it is first needed."""

    def __init__(self, references: Mapping[str, Unit | str]) -> None:
        """Create a library without parsing anything.

        Args:
            references: The file of each reference, or its text.
        """
        self._references = dict(references)

    def find(self, path: str) -> Unit | None:
        """The file with an import path: a reference, or otherwise a built-in file.

        Raises:
            InvalidSchema: The text of the reference is not a schema.
        """
        reference = self._references.get(path)
        if reference is None:
            return builtin(path)
        if isinstance(reference, str):
            reference = self._references[path] = _UNITS.get(path, reference)
        return reference

    @cached_property
    def symbols(self) -> Mapping[str, Symbol]:
        """The symbols of all files, imported or not; a reference's declaration replaces a built-in one."""
        symbols = dict(builtin_symbols())
        for path in reversed(self._references):
            with suppress(InvalidSchema):  # nothing imports this file, so its errors do not matter
                unit = self.find(path)
                symbols.update(unit.symbols if unit is not None else {})
        return symbols


def _read(path: str, text: str) -> Unit:
    try:
        tree, is_text = read(text)
    except InvalidSchema as error:
        raise InvalidSchema(PROTOBUF, f'in the reference "{path}": {error.detail}', None) from None
    return Unit(path, tree, text if is_text else None)


#: A tree takes about thirty times the memory of its text.
_UNITS = TextCache(_read, 1_000_000)
