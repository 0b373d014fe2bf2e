"""The reason why a JSON Schema refuses a value."""

from __future__ import annotations

from dataclasses import dataclass

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refusal: field, keyword and reason.

    Attributes:
        path: The keys and indexes of the refused part.
        keyword: The keyword of the schema that refuses it.
        reason: A sentence that names the keyword if it is not obvious.
    """

    path: Path
    keyword: str
    reason: str


class ValueRefused(ValueError):
    """A value that its JSON Schema refuses."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal)
        self.refusal = refusal

    @property
    def path(self) -> str:
        """The path of the refused part, as `$.key[index]`."""
        return data_path(self.refusal.path)

    def __str__(self) -> str:
        return f"{self.path}: {self.refusal.reason}"


def data_path(path: Path) -> str:
    """The path of keys and indexes as `$.key[index]`."""
    return "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
