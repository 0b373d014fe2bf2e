"""The mirror's mark, which the target keeps: how far it has followed the source, and what a promotion needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple, Self

from magicbyte.kit.failure import Failure
from magicbyte.operations.mirror.naming import Naming
from registry.feed.export import GLOBAL_SETTINGS

FOLLOWING, PROMOTING, PROMOTED = "following", "promoting", "promoted"


class Anchor(NamedTuple):
    """The last change that the source has shown: it has to show it again, or its log is another one."""

    offset: int
    kind: str
    subject: str
    timestamp: int


@dataclass(frozen=True, slots=True)
class Mark:
    """A mirror's mark.

    Attributes:
        source: The source's name, without secrets.
        naming: The names in the target.
        deletes: Whether deletions are mirrored.
        log_id: The id of the source's log; empty if the source has none.
        offset: The offset up to which the target is what the source was; None before the first full sync has ended.
        anchor: The last change up to the offset that the source showed; None if it has shown none.
        changed: When the target became equal to the source last, in ms since the epoch.
        contexts: The contexts of the target that are mirrored.
        before: The modes that these contexts had before; a context without one is not in it.
        modes: The source's own modes by the target's names, `:.:` for the global one; a promotion sets them.
        closure: Subjects of the source that are mirrored since others refer to them, or have done so.
        state: `following`, `promoting` or `promoted`.
        promoted: When it was promoted, in ms since the epoch; 0 if it was not.
        targets: Context -> the mark of ids to which a promotion raises it.
        writer: Who writes it: a word of its own for each mirror and promotion that takes over.
    """

    source: str
    naming: Naming = field(default_factory=Naming)
    deletes: bool = True
    log_id: str = ""
    offset: int | None = None
    anchor: Anchor | None = None
    changed: int = 0
    contexts: tuple[str, ...] = ()
    before: Mapping[str, str] = field(default_factory=dict)
    modes: Mapping[str, str] = field(default_factory=dict)
    closure: tuple[str, ...] = ()
    state: str = FOLLOWING
    promoted: int = 0
    targets: Mapping[str, int] = field(default_factory=dict)
    writer: str = ""

    def to_json(self) -> dict[str, Any]:
        """The mark as the target keeps it."""
        return {
            **{name: value for name, value in asdict(self).items() if value not in (None, "", (), {}, 0)},
            "deletes": self.deletes,
            "naming": asdict(self.naming),
            **({} if self.anchor is None else {"anchor": list(self.anchor)}),
            **({} if self.offset is None else {"offset": self.offset}),
        }

    @classmethod
    def of_json(cls, value: Mapping[str, Any]) -> Self:
        """The mark of a value that the target keeps.

        Raises:
            Failure: It is none of this version's marks.
        """
        try:
            naming = dict(value["naming"])
            naming["patterns"] = tuple(naming["patterns"])
            parts = {**value, "naming": Naming(**naming)}
            if "anchor" in parts:
                parts["anchor"] = Anchor(*parts["anchor"])
            for name in ("contexts", "closure"):
                parts[name] = tuple(parts.get(name, ()))
            return cls(**parts)
        except (KeyError, TypeError, ValueError) as error:
            raise Failure(f"the target has a mark of a mirror that this version cannot read: {error!r}") from None

    def follows_from(self, before: Mapping[str, str]) -> Self:
        """The mark with modes that contexts had before the mirror, unless it knows theirs."""
        return replace(self, before={**before, **self.before})


def settings_name(name: str | None) -> str:
    """A name of settings as a mark has it."""
    return GLOBAL_SETTINGS if name is None else name
