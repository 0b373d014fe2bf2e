"""A connector's configuration while it is converted: the converted settings, and those without a counterpart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(slots=True)
class ConnectConfig:
    """The settings of a connector; each is taken once, and the rest has no counterpart.

    Attributes:
        settings: The settings.
        notes: Settings without a counterpart or with another meaning: the name, and why.
    """

    settings: Mapping[str, str]
    notes: list[tuple[str, str]] = field(default_factory=list)
    _taken: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, settings: Mapping[str, object]) -> ConnectConfig:
        """The settings of a file, whose values may be numbers and truth values of JSON."""
        return cls(
            {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in settings.items()}
        )

    def take(self, name: str, default: str | None = None) -> str | None:
        """A setting's value, which is converted."""
        self._taken.add(name)
        value = self.settings.get(name)
        return default if value is None else str(value)

    def take_list(self, name: str) -> list[str]:
        """The values of a setting with commas in between."""
        return [part.strip() for part in (self.take(name) or "").split(",") if part.strip()]

    def note(self, name: str, why: str) -> None:
        """Note that a setting has no counterpart, if it is given."""
        self._taken.add(name)
        if name in self.settings:
            self.notes.append((name, why))

    def rest(self) -> list[str]:
        """The settings that nothing took."""
        return [name for name in self.settings if name not in self._taken]


def short_class(name: str | None) -> str:
    """A class without its package, and without `$Key` or `$Value`."""
    return (name or "").rpartition(".")[2].partition("$")[0]
