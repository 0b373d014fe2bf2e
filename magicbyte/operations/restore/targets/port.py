"""The port of targets."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Protocol, Self

from magicbyte.operations.restore.plan import Loss, Plan, Written
from magicbyte.operations.state import State

#: Takes a line of progress.
Progress = Callable[[str], None]


class Target(Protocol):
    """Something that a backup is restored into; a context manager that closes its connections."""

    #: Whether it is a log, which takes a backup's records byte for byte.
    is_log: bool
    #: What the last `state` did not show to this user, each a sentence; see `Reading`.
    withheld: tuple[str, ...]

    @property
    def name(self) -> str:
        """The target as the user named it, without secrets."""

    def state(self) -> State:
        """Read the state of the target that a restore must not change; nothing of the target is changed.

        Raises:
            Unreachable: It does not answer, or refuses the client.
        """

    def unfinished(self, state: State) -> frozenset[str]:
        """The subjects that a restore which was killed has left half written, by what `state` has returned."""

    def losses(self, plan: Plan) -> list[Loss]:
        """Return the parts of the plan that the target cannot hold."""

    def storable(self, state: State) -> State:
        """The part of a state that the target can hold."""

    def check(self, plan: Plan) -> list[str]:
        """Find the obstacles to writing the plan, each a sentence; nothing of the target is changed.

        Raises:
            Unreachable: It does not answer, or refuses the client.
        """

    def write(self, plan: Plan, progress: Progress) -> Written:
        """Write the plan; if that ends early, a second call with the same plan writes the rest.

        Raises:
            Failure: The target refuses; the text tells how much was written.
            Unreachable: It does not answer any more.
        """

    def read_back(self) -> State:
        """Read the whole target as its clients see it.

        Raises:
            Unreachable: It does not answer, or refuses the client.
        """

    def unlike(self, plan: Plan) -> tuple[str, ...]:
        """Read the records of a log again, and tell what is not as it was to be written, each a sentence.

        Raises:
            Unreachable: It does not answer, or refuses the client.
        """

    def close(self) -> None:
        """Close connections and files."""

    def __enter__(self) -> Self:
        """Return this target."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        """Close the connections."""
