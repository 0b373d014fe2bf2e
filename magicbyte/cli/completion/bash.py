"""The completion for bash, from 3.2 on; it needs no package bash-completion."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping

from magicbyte.cli.completion.table import Entry, Value

_HEAD = """# Completion of magicbyte for bash, from `magicbyte completion bash`.

# Sets what can follow a command.
_magicbyte_entry() {
  subcommands= options= valued= argument= paths=
  case "$1" in
"""
_VALUES = """  esac
}

# Sets the values of an option.
_magicbyte_value() {
  words= paths=
  case "$1" in
"""
_WALK = """  esac
}

_magicbyte() {
  local subcommands options valued argument words paths word at option skip=0 index
  local current="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"
  COMPREPLY=()
  at="${COMP_WORDS[0]##*/}"
  _magicbyte_entry "$at"
  for ((index = 1; index < COMP_CWORD; index++)); do
    word="${COMP_WORDS[index]}"
    if ((skip)); then
      # bash makes three words of --option=value.
      [[ $word == "=" ]] || skip=0
      continue
    fi
    case "$word" in
      -*) [[ " $valued " == *" $word "* ]] && skip=1 ;;
      *) if [[ " $subcommands " == *" $word "* ]]; then at="$at $word"; _magicbyte_entry "$at"; fi ;;
    esac
  done
  if [[ $current == "=" ]]; then option="$before" current=
  elif [[ $before == "=" ]]; then option="${COMP_WORDS[COMP_CWORD-2]}"
  elif ((skip)); then option="$before"
  fi
  if [[ -n $option ]]; then _magicbyte_value "$at $option"
  elif [[ $current == -* ]]; then words="$options" paths=
  else words="$subcommands $argument"
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  local IFS=$'\n'
  case "$paths" in
    files) COMPREPLY+=($(compgen -f -- "$current")); compopt -o filenames 2>/dev/null ;;
    folders) COMPREPLY+=($(compgen -d -- "$current")); compopt -o filenames 2>/dev/null ;;
  esac
  return 0
}
"""


def script(entries: Mapping[str, Entry]) -> str:
    """The script for all commands."""
    programs = " ".join(name for name in entries if " " not in name)
    parts = [_HEAD, *_cases(entries), _VALUES, *_values(entries), _WALK, f"complete -F _magicbyte {programs}\n"]
    return "".join(parts)


def _cases(entries: Mapping[str, Entry]) -> Iterator[str]:
    for name, entry in entries.items():
        options = [option for item in entry.options for option in item.names]
        valued = [option for item in entry.options if item.value is not None for option in item.names]
        settings = {
            "subcommands": entry.subcommands,
            "options": options,
            "valued": valued,
            "argument": entry.argument.words,
            "paths": [entry.argument.paths] if entry.argument.paths else [],
        }
        yield _case(name, settings.items())


def _values(entries: Mapping[str, Entry]) -> Iterator[str]:
    for name, entry in entries.items():
        for option in entry.options:
            if option.value is not None and option.value != Value():
                settings = (
                    ("words", option.value.words),
                    ("paths", [option.value.paths] if option.value.paths else []),
                )
                for spelled in option.names:
                    yield _case(f"{name} {spelled}", settings)


def _case(pattern: str, settings: object) -> str:
    assigned = " ".join(f"{name}={shlex.quote(' '.join(words))}" for name, words in settings if words)  # type: ignore[attr-defined]
    return f"    {shlex.quote(pattern)}) {assigned or ':'} ;;\n"
