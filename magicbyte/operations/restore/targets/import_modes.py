"""IMPORT mode for the subjects of a restore, and their own modes afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Self

from magicbyte.kit.failure import Failure
from magicbyte.kit.plural import plural
from magicbyte.operations.failures import Unreachable
from magicbyte.operations.registry_end import RegistryEnd
from serdes.client.requester import path
from serdes.error import RegistryError

IMPORT = "IMPORT"
#: From this status on, a request may have been carried out although the answer is an error.
_SERVER_ERRORS = 500


class ImportModes:
    """Subjects in IMPORT mode; a context manager that ends it, also after an error or an interruption.

    A subject that was in IMPORT mode of its own before is taken for the remainder of a restore that was killed.

    Args:
        end: The registry.
        before: The subjects' own modes before the restore.
    """

    def __init__(self, end: RegistryEnd, before: Mapping[str | None, str]) -> None:
        self._end = end
        self._before = before
        self._changed: dict[str, None] = {}
        #: Subject -> the mode that it is to have in the end, if that is not the one that it had.
        self.final: dict[str, str] = {}

    def enter(self, subject: str, *, has_versions: bool) -> None:
        """Put a subject into IMPORT mode.

        Raises:
            Failure: The registry does not accept that; if no subject was changed before, nothing was written.
        """
        # Noted first: a request that is interrupted, or whose answer is lost, may have been carried out.
        self._changed[subject] = None
        if self._before.get(subject) == IMPORT:
            return
        try:
            # Without force, a subject that has versions is refused, or loses those that are soft-deleted.
            self._put(subject, IMPORT, force=has_versions)
        except RegistryError as error:
            if error.status < _SERVER_ERRORS:
                del self._changed[subject]
            raise Failure(
                f"{self._end.name} does not accept IMPORT mode for {subject}, and without it, it gives ids of its own: "
                f"{error.message}"
            ) from None

    def leave(self) -> None:
        """Give each subject the mode that it is to have.

        Raises:
            Failure: The registry refuses; the text names the subjects that stay in IMPORT mode.
        """
        stuck: list[str] = []
        reason = ""
        for subject in list(self._changed):
            before = self._before.get(subject)
            mode = self.final.get(subject, None if before == IMPORT else before)
            try:
                self._set(subject, mode)
                del self._changed[subject]
            except (RegistryError, Unreachable) as error:
                stuck.append(subject)
                reason = str(error)
        if stuck:
            names = ", ".join(stuck[:5]) + (", ..." if len(stuck) > 5 else "")
            stay = "stays" if len(stuck) == 1 else "stay"
            raise Failure(
                f"{plural(len(stuck), 'subject')} of {self._end.name} {stay} in IMPORT mode: {names}. Run the restore "
                f"again, or set the mode: {reason}"
            )

    def _set(self, subject: str, mode: str | None) -> None:
        if mode is not None:
            self._put(subject, mode, force=mode == IMPORT)
            return
        try:
            self._end.call("DELETE", f"/mode{path(subject)}")
        except RegistryError:
            # Some registries cannot remove a mode.
            self._put(subject, "READWRITE", force=False)

    def _put(self, subject: str, mode: str, *, force: bool) -> None:
        self._end.call("PUT", f"/mode{path(subject)}", {"force": force}, {"mode": mode})

    def __enter__(self) -> Self:
        """Return these modes."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        """End IMPORT mode; after an error, the subjects get the modes that they had."""
        if error is not None:
            self.final = {}
        self.leave()
