"""The tables of a view."""

from __future__ import annotations

from collections.abc import Iterator
from typing import overload

from magicbyte.security.rights.rule import Rule
from registry.state.model import Config, MirrorMark, RuleOrigin, Version
from registry.state.records import Key
from registry.state.view.overlay import Layer, Table, layer_over

#: A subject and a version number.
SubjectVersion = tuple[str, int]
#: An id, with its context unless that is the default one. Ids are many, and a bare number costs least memory.
Identity = int | tuple[str, int]
#: The versions under a key. Usually there is one, kept bare: a tuple around it would cost half as much as the version.
Held = Version | tuple[Version, ...]
#: How many ids a page of `ById` holds: so few that a page with a single id costs less than its schema.
_PAGE = 64


class ById(Table[Identity, Held]):
    """A table by id that takes little more than a pointer per entry if ids are consecutive, as they usually are."""

    def __init__(self) -> None:
        self._pages: dict[int, list[Held | None]] = {}
        self._qualified: dict[Identity, Held] = {}

    @overload
    def get(self, key: Identity, /) -> Held | None: ...
    @overload
    def get(self, key: Identity, default: Held, /) -> Held: ...
    def get(self, key: Identity, default: Held | None = None, /) -> Held | None:
        """The versions with an id."""
        if isinstance(key, int):
            page = self._pages.get(key // _PAGE)
            held = None if page is None else page[key % _PAGE]
        else:
            held = self._qualified.get(key)
        return default if held is None else held

    def __setitem__(self, key: Identity, value: Held, /) -> None:
        if isinstance(key, int):
            page = self._pages.get(key // _PAGE)
            if page is None:
                page = self._pages[key // _PAGE] = [None] * _PAGE
            page[key % _PAGE] = value
        else:
            self._qualified[key] = value

    def __contains__(self, key: object, /) -> bool:
        return isinstance(key, int | tuple) and self.get(key) is not None

    def __iter__(self) -> Iterator[Identity]:
        for number, page in list(self._pages.items()):
            yield from (number * _PAGE + index for index, held in enumerate(page) if held is not None)
        yield from list(self._qualified)

    def pop(self, key: Identity, default: None, /) -> Held | None:
        """Remove an id; its page stays."""
        held = self.get(key)
        if isinstance(key, int):
            if held is not None:
                self._pages[key // _PAGE][key % _PAGE] = None
        else:
            self._qualified.pop(key, None)
        return default if held is None else held


class Tables:
    """A view's tables: layers over the tables of another view, or empty."""

    def __init__(self, base: Tables | None = None) -> None:
        self.ids: Table[Identity, Held] = Layer(base.ids) if base else ById()
        #: The ids that records have claimed for two contents.
        self.contested: Table[Identity, bool] = layer_over(base.contested if base else None)
        #: The versions by text, in any context. The text itself is the key, which saves keeping a digest.
        self.texts: Table[str, Held] = layer_over(base.texts if base else None)
        self.highest_ids: Table[str, int] = layer_over(base.highest_ids if base else None)
        self.referrers: Table[SubjectVersion, tuple[SubjectVersion, ...]] = layer_over(base.referrers if base else None)
        self.configs: Table[str | None, Config] = layer_over(base.configs if base else None)
        self.modes: Table[str | None, str] = layer_over(base.modes if base else None)
        self.contexts: Table[str, bool] = layer_over(base.contexts if base else None)
        self.mirrors: Table[str, MirrorMark] = layer_over(base.mirrors if base else None)
        self.rules: Table[Rule, RuleOrigin] = layer_over(base.rules if base else None)
        self.raw_keys: Table[Key, tuple[bytes, ...]] = layer_over(base.raw_keys if base else None)
        # Last, also when layers are merged: who finds a version in its subject can look it up elsewhere.
        self.subjects: Table[str, list[Version]] = layer_over(base.subjects if base else None)

    def merge(self) -> None:
        """Make the changes of the layers in the tables below."""
        for table in vars(self).values():
            if isinstance(table, Layer):
                table.merge()
