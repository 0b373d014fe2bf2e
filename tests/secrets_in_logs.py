"""Secrets that no log of a server of the suite may have: credentials, by their shapes."""

from __future__ import annotations

import re

from magicbyte.platform.server_process import ServerProcess

_SHAPES = re.compile(
    rb"mbs_[A-Za-z0-9_-]{3,}"  # the secret of an API key
    rb"|\b(?i:basic) (?=[^ ]*[0-9A-Z=])[A-Za-z0-9+/]{6,}=*"
    rb"|\b(?i:bearer) (?=[^ ]*[0-9A-Z])[A-Za-z0-9._~+/=-]{12,}"
    rb"|\beyJ[A-Za-z0-9_-]{8,}\."  # a JSON Web Token
    rb"|://[^/?#\s\"'@\[]+:[^/?#\s\"'@]+@"  # the user info of a URL
    rb"|\$argon2|-----BEGIN [A-Z ]*PRIVATE KEY"
)


def secrets_in(log: bytes) -> list[str]:
    """The credentials in a log."""
    return [match[0].decode("latin-1") for match in _SHAPES.finditer(log)]


def check_logs_of_servers() -> None:
    """Let each server of this process that stops have its log searched."""
    stop = ServerProcess.stop

    def checked(self: ServerProcess, seconds: float = 10) -> int | None:
        code = stop(self, seconds)
        if self.log.exists():
            found = secrets_in(self.log.read_bytes())
            assert not found, f"the log of the {self.name} has credentials: {found}"
        return code

    ServerProcess.stop = checked  # type: ignore[method-assign]
