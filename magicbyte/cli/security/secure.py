"""`magicbyte secure`: create certificates, users, rules and settings for a first try of TLS and sign-in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from magicbyte.kit.command_line import CommandParser


def main(arguments: Sequence[str]) -> int:
    """Fill a folder and print how to use it; returns the exit code."""
    parser = CommandParser(prog="magicbyte secure", description=__doc__, examples=("magicbyte secure ./first-try",))
    parser.add_argument("folder", type=Path, metavar="DIR", help="an empty folder, or one that does not exist")
    parser.add_argument(
        "--registry-port", type=int, metavar="PORT", default=8081, help="the registry's port (default 8081)"
    )
    parser.add_argument(
        "--rest-port", type=int, metavar="PORT", default=8082, help="the REST proxy's port (default 8082)"
    )
    parser.add_argument(
        "--allowed-host",
        action="append",
        default=[],
        metavar="NAME",
        help="a further name of the servers, for their certificate; may be given many times",
    )
    options = parser.parse_args(arguments)
    # Import here: it loads cryptography, which --help does not need.
    from magicbyte.security.first_try import secure  # noqa: PLC0415

    files = secure(
        options.folder,
        registry_port=options.registry_port,
        rest_port=options.rest_port,
        hosts=options.allowed_host,
    )
    secrets = files.ca.with_name("secrets.properties")
    print(
        f"magicbyte registry --storage memory: --config {files.registry}\n"
        f"magicbyte rest-proxy --bootstrap-servers HOST:PORT --config {files.rest_proxy}\n"
        f"curl --cacert {files.ca} --cert {files.client} https://127.0.0.1:{options.registry_port}/subjects\n"
        f"The passwords of admin, who may do everything, and of app are in {secrets}.\n"
        f"What app may do is in {files.ca.with_name('rules')}.\n"
        f"Clients' settings are in {files.clients} (app, by password) and {files.admin} (admin, by certificate)."
    )
    return 0
