"""The target of a mirror: a Magicbyte registry, which refuses a mirror after another one has taken over."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from magicbyte.kit.failure import Failure
from magicbyte.operations.closing import Closing
from magicbyte.operations.failures import Unreachable
from magicbyte.operations.mirror.mark import Mark
from magicbyte.operations.registry_end import RegistryEnd
from magicbyte.operations.sources.wholeness import require_whole, withheld_by
from magicbyte.operations.state import State
from serdes.error import RegistryError

#: How many lines, and about how many bytes, are written at once; the registry takes 200 lines in one transaction.
_MOST_LINES, _MOST_BYTES = 190, 2 << 20
_FENCED = 40990
_TOO_MANY = 429
#: How many refused lines an error lists.
_LISTED = 10


class Fenced(Failure):
    """Another mirror or a promotion has taken over."""


@dataclass(frozen=True, slots=True)
class Copy:
    """The target as it was read.

    Attributes:
        state: Its state.
        marks: Context -> epoch and mark of the mirror that writes into it.
    """

    state: State
    marks: Mapping[str, tuple[int, Mapping[str, Any]]]

    def mark(self, root: str) -> tuple[int, Mark | None]:
        """The epoch and mark of a mirror; 0 and None if there has been none."""
        if root not in self.marks:
            return 0, None
        epoch, value = self.marks[root]
        return epoch, Mark.of_json(value)


class Target(Closing):
    """A registry of ours.

    Args:
        url: Its URL.
        properties: Settings of its client.
    """

    def __init__(self, url: str, properties: Mapping[str, str]) -> None:
        self.end = RegistryEnd(url, properties)

    @property
    def name(self) -> str:
        """Its URL without credentials."""
        return self.end.name

    def close(self) -> None:
        """Close the connections."""
        self.end.close()

    def read(self) -> Copy:
        """Read its state and marks.

        Raises:
            Unreachable: It does not answer, or refuses the client.
            Withheld: It does not show everything.
            Failure: It is not a Magicbyte registry.
        """
        answer = answered(self.end, "GET", "/export", missing="the target of a mirror has to be a Magicbyte registry")
        values = [orjson.loads(line) for line in answer.body.splitlines()]
        outcome = "what is hidden looks missing to a mirror"
        require_whole(self.name, withheld_by(values[0], answer.headers), outcome, advice="")
        marks = {line["context"]: (line["epoch"], line["value"]) for line in values if line["kind"] == "mirrored"}
        return Copy(State.of_lines(values), marks)

    def write(self, root: str, epoch: int, lines: Sequence[Mapping[str, Any]], mark: Mark) -> None:
        """Write lines in order, and after them the mark; each part is written whole or not at all.

        Args:
            root: The context of the mark.
            epoch: The epoch; one above the target's if the mirror takes over, with a new writer and no lines.
            lines: The lines.
            mark: The mark.

        Raises:
            Fenced: Another mirror or a promotion has taken over; nothing more is written.
            Unreachable: The target does not answer, or refuses the client; what was written is unknown.
            Failure: The target refuses lines.
        """
        last = {"kind": "mirror", "context": root, "epoch": epoch, "value": mark.to_json()}
        fence = orjson.dumps({"kind": "mirror", "context": root, "epoch": epoch, "writer": mark.writer}) + b"\n"
        for part in _parts([*lines, last]):
            self._import((b"" if part[0].startswith(b'{"kind":"mirror"') else fence) + b"".join(part))

    def write_lines(self, lines: Iterable[Mapping[str, Any]]) -> None:
        """Write lines that are of no mirror.

        Raises:
            Unreachable: The target does not answer, or refuses the client; what was written is unknown.
            Failure: The target refuses lines; it has taken the others of their part.
        """
        for part in _parts(lines):
            self._import(b"".join(part))

    def _import(self, body: bytes) -> None:
        answer = answered(self.end, "POST", "/import", query={"lines": True}, body=body)
        if refused := orjson.loads(answer.body)["refused"]:
            raise Failure(f"{self.name} refuses what is written: {_refusal_text(refused, body)}")


def answered(
    end: RegistryEnd, method: str, path: str, *, query: Any = None, body: bytes | None = None, missing: str = ""
) -> Any:
    """The answer of a registry to a mirror.

    Raises:
        Fenced, Unreachable, Failure: As the registry's error says.
    """
    try:
        return end.answer(method, path, query, body)
    except RegistryError as error:
        if error.code == _FENCED:
            raise Fenced(f"{end.name}: {error.message}") from None
        if error.status >= 500 or error.status == _TOO_MANY:
            raise Unreachable(f"{end.name}: {method} {path}: {error.message}") from None
        if error.status == 404 and missing:
            raise Failure(f"{end.name} has no {path}: {missing}") from None
        raise Failure(f"{end.name} refuses {method} {path}: {error.message}") from None


def _parts(lines: Iterable[Mapping[str, Any]]) -> Iterator[list[bytes]]:
    part, size = list[bytes](), 0
    for line in lines:
        raw = orjson.dumps(line) + b"\n"
        if part and (len(part) == _MOST_LINES or size + len(raw) > _MOST_BYTES):
            yield part
            part, size = [], 0
        part.append(raw)
        size += len(raw)
    if part:
        yield part


def _refusal_text(refused: Sequence[Mapping[str, Any]], body: bytes) -> str:
    lines = body.splitlines()
    told = []
    for one in refused[:_LISTED]:
        line = orjson.loads(lines[one["line"] - 1])
        what = " ".join(str(line[name]) for name in ("kind", "of", "subject", "version", "context") if name in line)
        told.append(f"{what}: {one['message']}")
    more = f"; and {len(refused) - _LISTED} more" if len(refused) > _LISTED else ""
    return "; ".join(told) + more
