"""`magicbyte completion`: a script that lets a shell complete commands, options, choices and files.

bash reads it from `~/.local/share/bash-completion/completions/magicbyte`, zsh from a file `_magicbyte` in a folder of
`$fpath`, and fish from `~/.config/fish/completions/magicbyte.fish`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence

from magicbyte.cli.completion import bash, fish, zsh
from magicbyte.cli.completion.table import Entry, entries
from magicbyte.kit.command_line import CommandParser

SHELLS: Mapping[str, Callable[[Mapping[str, Entry]], str]] = {
    "bash": bash.script,
    "zsh": zsh.script,
    "fish": fish.script,
}


def main(arguments: Sequence[str]) -> int:
    """Print a script; returns the exit code."""
    parser = CommandParser(
        prog="magicbyte completion", description=__doc__, examples=("magicbyte completion bash > magicbyte.bash",)
    )
    parser.add_argument("shell", metavar="SHELL", choices=SHELLS, help="bash, zsh or fish")
    options = parser.parse_args(arguments)
    sys.stdout.write(SHELLS[options.shell](entries()))
    return 0
