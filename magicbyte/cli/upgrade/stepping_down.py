"""`magicbyte upgrade step-down`: let a node give up the lead."""

from __future__ import annotations

import argparse
import sys

from magicbyte.cli.upgrade.client import client_properties
from magicbyte.kit.failure import Failure
from magicbyte.operations.registry_end import RegistryEnd
from serdes.error import RegistryError

#: The codes of nodes that have no lead to give up: nothing is to be done.
_NOTHING_TO_DO = frozenset({40911, 40912})
_NO_ROUTE = frozenset({404, 405})
#: A step-down may take this long, in seconds, until it is given up.
_SECONDS = "60"


def run_step_down(_parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    """Ask once, wait for the answer, and print which node leads; a node that does not lead is left as it is.

    Raises:
        Failure: The node goes on to lead.
        Unreachable: It does not answer, or refuses the client.
    """
    properties = {"timeout": _SECONDS, **client_properties(options), "max.retries": "0"}
    with RegistryEnd(options.url, properties) as end:
        try:
            answer = end.call("POST", "/admin/step-down")
        except RegistryError as error:
            if error.code in _NOTHING_TO_DO:
                sys.stdout.write(f"{end.name}: {error.message}\n")
                return 0
            if error.status in _NO_ROUTE:
                raise Failure(
                    f"{end.name} has no /admin/step-down: its release is older; stop it with SIGTERM"
                ) from None
            raise Failure(f"{end.name}: {error.message}") from None
    sys.stdout.write(f"{answer['leaderUrl']} leads now\n")
    return 0
