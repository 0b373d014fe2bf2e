"""Asks real shells what they complete; run as a program, installs Debian's zsh and fish if they are missing."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

NAMES = ("bash", "zsh", "fish")
_BASH = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_magicbyte
printf '%s\\n' "${COMPREPLY[@]}"
"""
_FISH = 'source $argv[1]; complete -C "$argv[2]"'
#: A shell in a pseudo terminal, whose `compadd` prints the words instead of showing them.
_ZSH = """
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1= PS2= RPS1= ; unsetopt beep; stty -echo; bindkey -e"
zpty -w shell "autoload -Uz compinit; compinit -D -u; source $1"
zpty -w shell 'compadd() {
  if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\\ * ]]; then builtin compadd "$@"; return; fi
  typeset -a hits
  builtin compadd -A hits "$@"
  (($#hits)) && print -rl -- "word:"${^hits}
  builtin compadd "$@"
}'
zpty -w shell 'capture() { zle complete-word; print -r -- "the "end; zle kill-whole-line; }; zle -N capture'
zpty -w shell 'setopt no_list_beep; bindkey "^X" capture; print -r -- "the "start'
while zpty -r shell line; do [[ $line == *"the start"* ]] && break; done
for asked in "${@:2}"; do
  print -r -- "asked:$asked"
  zpty -w -n shell "$asked"$'\\x18'
  while zpty -r shell line; do
    print -r -- "$line"
    [[ $line == *"the end"* ]] && break
  done
done
zpty -d shell
"""


def completions(shell: str, script: Path, lines: Sequence[str], folder: Path) -> dict[str, set[str]]:
    """The words that a shell offers at the end of each line.

    Args:
        shell: One of NAMES.
        script: The script of `magicbyte completion`.
        lines: The lines; they may end with a space.
        folder: The folder in which the shell runs.
    """
    if shell == "zsh":
        # One process for all, because its completion takes seconds to load.
        return _in_zsh(script, lines, folder)
    in_shell = _in_bash if shell == "bash" else _in_fish
    return {line: in_shell(script, line, folder) - {""} for line in lines}


def _in_bash(script: Path, line: str, folder: Path) -> set[str]:
    # bash splits words at =, too.
    words = re.findall(r"=|[^\s=]+", line) + ([""] if line.endswith(" ") else [])
    return {*_run(["bash", "--norc", "-c", _BASH, "bash", str(script), *words], folder)}


def _in_fish(script: Path, line: str, folder: Path) -> set[str]:
    offered = _run(["fish", "--no-config", "-c", _FISH, str(script), line], folder)
    return {text.partition("\t")[0].rpartition("=")[2].rstrip("/") for text in offered}


def _in_zsh(script: Path, lines: Sequence[str], folder: Path) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    asked = ""
    for text in _run(["zsh", "-f", "-c", _ZSH, "zsh", str(script), *lines], folder):
        if text.startswith("asked:"):
            asked = text.removeprefix("asked:")
            found[asked] = set()
        elif "word:" in text:
            found[asked].add(text.partition("word:")[2])
    return found


def _run(command: list[str], folder: Path) -> list[str]:
    environment = {"HOME": str(folder), "PATH": os.environ["PATH"], "TERM": "dumb", "LC_ALL": "C.UTF-8"}
    ran = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.stderr == ""
    return [line.rstrip("\r") for line in ran.stdout.splitlines()]


def install() -> str:
    """Install the shells that are missing, if this process may; returns those that are still missing."""
    missing = [name for name in NAMES if shutil.which(name) is None]
    if missing and shutil.which("apt-get") is not None:
        sudo = [] if os.geteuid() == 0 else ["sudo", "-n"]
        if not sudo or shutil.which("sudo") is not None:
            for command in (["update"], ["install", "-y", "--no-install-recommends", *missing]):
                subprocess.run([*sudo, "apt-get", "-qq", *command], check=False, capture_output=True)
    return " ".join(name for name in missing if shutil.which(name) is None)


if __name__ == "__main__":
    absent = install()
    if absent:
        sys.exit(f"the tests of completion need {absent}: apt-get install {absent}")
