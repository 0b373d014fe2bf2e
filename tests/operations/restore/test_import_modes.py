"""IMPORT mode of subjects ends, also if the request that began it was interrupted or got no answer."""

from __future__ import annotations

from typing import Any

import pytest

from magicbyte.kit.failure import Failure
from magicbyte.operations.failures import Unreachable
from magicbyte.operations.registry_end import RegistryEnd
from magicbyte.operations.restore.targets.import_modes import ImportModes
from serdes.error import RegistryError


class _End(RegistryEnd):
    """A registry that carries all requests out, and answers the first one as if it had not."""

    def __init__(self, first: BaseException, other: Exception | None = None) -> None:
        super().__init__("http://127.0.0.1:1", {})
        self.calls: list[tuple[str, str, Any]] = []
        self._first: BaseException | None = first
        self._other = other

    def call(self, method: str, path: str, _query: Any = None, body: Any = None) -> Any:
        """Note the request."""
        self.calls.append((method, path, body))
        error, self._first = self._first, None
        if error or self._other:
            raise error or self._other or AssertionError


_PUT = ("PUT", "/mode/a", {"mode": "IMPORT"})
_DELETE = ("DELETE", "/mode/a", None)


@pytest.mark.parametrize(
    ("error", "calls"),
    [
        (KeyboardInterrupt(), [_PUT, _DELETE]),
        (Unreachable("no answer in time"), [_PUT, _DELETE]),
        (RegistryError(504, 504, "the gateway waited in vain"), [_PUT, _DELETE]),
        # The registry has refused it: nothing was changed.
        (RegistryError(422, 42205, "not allowed"), [_PUT]),
    ],
)
def test_import_mode_ends_after_an_interruption(error: BaseException, calls: list[Any]) -> None:
    end = _End(error)
    expected = Failure if isinstance(error, RegistryError) else type(error)
    with pytest.raises(expected), ImportModes(end, {}) as modes:
        modes.enter("a", has_versions=False)
    assert end.calls == calls


def test_a_subject_that_stays_in_import_mode_is_named() -> None:
    end = _End(KeyboardInterrupt(), Unreachable("away"))
    text = "1 subject of http://127.0.0.1:1 stays in IMPORT mode: a. Run the restore again, or set the mode: away"
    with pytest.raises(Failure, match=text), ImportModes(end, {}) as modes:
        modes.enter("a", has_versions=False)
