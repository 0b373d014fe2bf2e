"""A running registry of ours as a target: lines of an export, imported in batches."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from magicbyte.kit.failure import Failure
from magicbyte.kit.plural import plural
from magicbyte.operations.closing import Closing
from magicbyte.operations.registry_end import RegistryEnd
from magicbyte.operations.restore.plan import Loss, Plan, Written
from magicbyte.operations.restore.targets.port import Progress
from magicbyte.operations.sources.port import Source
from magicbyte.operations.state import State
from registry.state.line_kinds import CLOSING
from serdes.error import RegistryError

#: How many lines, and about how many bytes, one request brings. The server writes them in smaller batches.
_LINES_IN_REQUEST = 5000
_BYTES_IN_REQUEST = 16 << 20


class OurRegistry(Closing):
    """A registry of ours, over HTTP.

    Each request is an export of its own, with its closing line. So the registry checks each before it writes, and
    passes over lines that it has: a restore that was killed is run again.

    Args:
        end: The registry.
        source: The same registry as a source.
    """

    is_log = False

    def __init__(self, end: RegistryEnd, source: Source) -> None:
        self._end = end
        self._source = source
        self.withheld: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The URL without credentials."""
        return self._end.name

    def state(self) -> State:
        """Return the state of the registry; see `Target.state`."""
        reading = self._source.read()
        self.withheld = reading.withheld
        return reading.state

    def unfinished(self, _state: State) -> frozenset[str]:
        """None: each step of a restore is whole; see `Target.unfinished`."""
        return frozenset()

    def losses(self, _plan: Plan) -> list[Loss]:
        """None: our registries hold all that a state has."""
        return []

    def storable(self, state: State) -> State:
        """The state; see `Target.storable`."""
        return state

    def check(self, plan: Plan) -> list[str]:
        """Return the refusals of the registry in a dry run; see `Target.check`."""
        refusals: list[str] = []
        for lines in _requests(plan.state):
            refusals += self._import(lines, dry_run=True)[2]
        return refusals

    def write(self, plan: Plan, progress: Progress) -> Written:
        """Import all lines, settings last; see `Target.write`."""
        written = known = 0
        for lines in _requests(plan.state):
            taken, passed_over, refusals = self._import(lines, dry_run=False)
            written += taken
            known += passed_over
            progress(f"{plural(written + known, 'line')} in {self.name}")
            if refusals:
                raise Failure(
                    f"{self.name} has refused {plural(len(refusals), 'line')} that it took in a dry run, so something "
                    f"else has changed it meanwhile; written: {plural(written, 'line')}. Run the restore again. "
                    f"The first: {refusals[0]}"
                )
        return Written(written, known, "lines")

    def read_back(self) -> State:
        """Read the registry by its API; see `Target.read_back`."""
        return self._source.read().state

    def unlike(self, _plan: Plan) -> tuple[str, ...]:
        """Nothing: a registry does not show its records; see `Target.unlike`."""
        return ()

    def _import(self, lines: list[bytes], *, dry_run: bool) -> tuple[int, int, list[str]]:
        """Import lines; returns how many were taken and passed over, and the refusals."""
        body = b"".join(lines)
        end = {"kind": CLOSING, "lines": len(lines), "sha256": hashlib.sha256(body).hexdigest()}
        try:
            answer = self._end.exchange("POST", "/import", {"dryRun": dry_run}, body + orjson.dumps(end) + b"\n")
        except RegistryError as error:
            raise Failure(f"{self.name} refuses POST /import: {error.message}") from None
        report = orjson.loads(answer)
        refusals = [f"{_named(lines[one['line'] - 1])}: {one['message']}" for one in report["refused"]]
        return sum(report["imported"].values()), report["known"], refusals

    def close(self) -> None:
        """Close the connections."""
        self._source.close()
        self._end.close()


def is_ours(end: RegistryEnd) -> bool:
    """Tell whether a registry is ours, by an export of a context that no registry has.

    Raises:
        Unreachable: It does not answer, or refuses the client.
    """
    try:
        lines = end.exchange("GET", "/export", {"subjectPrefix": ":.magicbyte-none:"}).splitlines()
        return bool(lines) and "magicbyte" in orjson.loads(lines[0])
    except (RegistryError, orjson.JSONDecodeError):
        return False


def _requests(state: State) -> Iterator[list[bytes]]:
    """The lines of a state, for one request after the other."""
    lines, size = list[bytes](), 0
    for value in state.lines():
        line = orjson.dumps(_untimed(value)) + b"\n"
        if lines and (len(lines) == _LINES_IN_REQUEST or size + len(line) > _BYTES_IN_REQUEST):
            yield lines
            lines, size = [], 0
        lines.append(line)
        size += len(line)
    if lines:
        yield lines


def _untimed(value: dict[str, Any]) -> Mapping[str, Any]:
    """A line without a time that is not known, so that the registry sets the time of the import."""
    return {name: part for name, part in value.items() if name != "ts"} if value.get("ts") == 0 else value


def _named(line: bytes) -> str:
    value = orjson.loads(line)
    match value["kind"]:
        case "schema":
            return f"version {value['version']} of {value['subject']}"
        case "context":
            return f"context {value['context']}"
        case kind:
            subject = value.get("subject")
            return f"the {kind} of {subject}" if subject else f"the global {kind}"
