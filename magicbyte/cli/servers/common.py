"""Shared parts of the commands that run one server: its options, its import, and the start signal."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import magicbyte
from magicbyte.cli.flags import add_address
from magicbyte.cli.servers.stopping import exit_on_signals
from magicbyte.kit.failure import Failure
from magicbyte.kit.settings.place import SettingsError, with_places

Serve = Callable[..., int]


def add_server_options(parser: argparse.ArgumentParser, *, port: int, usual_host: str | None = None) -> None:
    """Add the options that all servers share; `add_address` has the arguments."""
    add_address(parser, host="0.0.0.0", port=port, usual_host=usual_host)  # noqa: S104 - as the reference
    parser.add_argument("--config", type=Path, metavar="FILE", help="a .properties file with the reference's names")
    # Only a process that starts workers uses this option: the file holds resolved placeholders, which must not be
    # resolved again.
    parser.add_argument("--resolved-config", type=Path, metavar="FILE", help=argparse.SUPPRESS)
    # Only `up` uses this option: see ServerProcess.launch.
    parser.add_argument("--start-when-closed", type=int, metavar="FD", help=argparse.SUPPRESS)


def load_serve(package: str) -> Serve:
    """Import `serve` from the `app` of one of our packages.

    Raises:
        Failure: as `require_ours`.
    """
    require_ours(package)
    serve: Serve = importlib.import_module(f"{package}.app").serve
    return serve


def require_ours(package: str) -> None:
    """Check that one of our packages is the one that Python finds.

    Raises:
        Failure: another package of that name comes first on the import path.
    """
    spec = importlib.util.find_spec(package)
    ours = Path(magicbyte.__file__).parent.parent / package
    folders = [Path(folder) for folder in (spec.submodule_search_locations or ())] if spec else []
    if spec is None or [folder.resolve() for folder in folders] != [ours.resolve()]:
        location = folders[0] if folders else spec.origin if spec else "nowhere"
        raise Failure(
            f"Python finds {package!r} at {location}, which is not Magicbyte's (that is {ours}):"
            " rename it, or take its folder out of PYTHONPATH"
        )


def run(package: str, properties: dict[str, str], *, start_when_closed: int | None, **arguments: Any) -> int:
    """Load the server, wait for the start signal if there is one, and serve.

    Args:
        package: the package of ours whose `app.serve` to call.
        properties: the server's properties, with their placeholders resolved.
        start_when_closed: the pipe that gives the start signal; None if there is none.
        arguments: further arguments of `serve`.

    Returns:
        The exit code: 0 after a stop signal, even if the server has not started to serve.

    Raises:
        Failure: a setting is wrong, or another package has the server's name.
    """
    exit_on_signals()
    try:
        serve = load_serve(package)
        if start_when_closed is not None:
            os.read(start_when_closed, 1)
            os.close(start_when_closed)
        return serve(properties, **arguments)
    except SettingsError as error:
        return _fail(Failure(with_places(str(error), properties)), error)
    except Failure as error:
        return _fail(error, error.__cause__)


def _fail(failure: Failure, cause: BaseException | None) -> int:
    """Log why the server ends if its logs are JSON, and return its exit code; otherwise raise the failure."""
    from magicbyte.kit.logs.set_up import tell_failure  # noqa: PLC0415 - a server that fails has imported it

    if tell_failure(failure):
        return 1
    raise failure from cause


def listeners(address: str | None) -> str | None:
    """Return `HOST:PORT` as a value of the `listeners` property; a URL stays as it is."""
    if address is None or "://" in address:
        return address
    return f"http://{address}"
