"""A server's file of settings, as a release would read it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from magicbyte.cli.config.checking import refusals, warnings_of_settings
from magicbyte.cli.config.servers import SERVERS
from magicbyte.kit.failure import Failure
from magicbyte.kit.settings.property_sources import properties_of_file
from magicbyte.kit.settings.server import FIRST_RELEASE
from magicbyte.operations.upgrade.findings import Finding, Severity
from magicbyte.operations.upgrade.releases import SETTING_CHANGES, Release, release_of


def check_file(file: Path, server_name: str, target: Release) -> Iterator[Finding]:
    """Yield what a release would refuse in a file, or treat otherwise than the release before it.

    Args:
        file: The .properties file.
        server_name: The server, such as `registry`.
        target: The release.

    Raises:
        Failure: The file cannot be read.
    """
    server, where = SERVERS[server_name], str(file)
    with warnings_of_settings() as warnings:
        properties = _read(file)
        refused = refusals(server, dict(properties))
    for change in SETTING_CHANGES:
        if change.server == server_name and change.name in properties and release_of(change.release) <= target:
            text = f"{change.name}: since {change.release}, {change.change}"
            yield Finding(Severity.PROBLEM, where, text, change.remedy)
    rows = server.all_settings().rows
    for name in properties:
        since = rows[name].since if name in rows else FIRST_RELEASE
        if since != FIRST_RELEASE and release_of(since) > target:
            yield Finding(Severity.PROBLEM, where, f"{name}: {since} has brought it", "remove it before the way back")
    for text in refused:
        yield Finding(Severity.PROBLEM, where, f"refused: {text}", "correct it")
    for text in warnings:
        yield Finding(Severity.NOTE, where, text)
    yield Finding(Severity.NOTE, where, f"{len(properties)} settings were read")


def _read(file: Path) -> dict[str, str]:
    try:
        return properties_of_file(file)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise Failure(f"--config {file} cannot be read: {reason}") from None
