"""The completion for zsh."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping

from magicbyte.cli.completion.table import Entry, Value

_ENTRY = """# Completion of magicbyte for zsh, from `magicbyte completion zsh`.

# Sets what can follow a command.
_magicbyte_entry() {
  subcommands=() options=() valued=() argument=() paths=
  case $1 in
"""
_VALUES = """  esac
}

# Sets the values of an option.
_magicbyte_value() {
  argument=() paths=
  case $1 in
"""
_WALK = """  esac
}

_magicbyte() {
  local -a subcommands options valued argument
  local paths at word option skip=0 index
  at=${words[1]:t}
  _magicbyte_entry $at
  for ((index = 2; index < CURRENT; index++)); do
    word=$words[index]
    if ((skip)); then skip=0; continue; fi
    if [[ $word == -* ]]; then
      ((valued[(Ie)$word])) && skip=1
    elif [[ -n ${(M)subcommands:#$word:*} ]]; then
      at="$at $word"
      _magicbyte_entry $at
    fi
  done
  if ((skip)); then
    option=$words[CURRENT-1]
  elif [[ $PREFIX == --*=* ]]; then
    option=${PREFIX%%=*}
    compset -P 1 '*='
  fi
  if [[ -n $option ]]; then
    _magicbyte_value "$at $option"
    subcommands=()
  elif [[ $PREFIX == -* ]]; then
    _describe -o option options
    return
  fi
  (($#subcommands)) && _describe command subcommands
  (($#argument)) && compadd -a argument
  case $paths in
    files) _files ;;
    folders) _files -/ ;;
  esac
}

"""
_END = """
# A file in $fpath is the function; a file that is sourced tells zsh of it.
if [[ $funcstack[1] == _magicbyte ]]; then _magicbyte "$@"; else compdef _magicbyte {programs}; fi
"""


def script(entries: Mapping[str, Entry]) -> str:
    """The script for all commands."""
    programs = " ".join(name for name in entries if " " not in name)
    head = f"#compdef {programs}\n\n"
    parts = [head, _ENTRY, *_cases(entries), _VALUES, *_values(entries), _WALK, _END.replace("{programs}", programs)]
    return "".join(parts)


def _cases(entries: Mapping[str, Entry]) -> Iterator[str]:
    for name, entry in entries.items():
        options = [_described(option, item.help) for item in entry.options for option in item.names]
        valued = [option for item in entry.options if item.value is not None for option in item.names]
        yield f"    ({shlex.quote(name)})\n"
        subcommands = [_described(subcommand, text) for subcommand, text in entry.subcommands.items()]
        for variable, words in (("subcommands", subcommands), ("options", options), ("valued", valued)):
            if words:
                yield f"      {variable}=({_quoted(words)})\n"
        yield from _assigned(entry.argument)
        yield "      ;;\n"


def _values(entries: Mapping[str, Entry]) -> Iterator[str]:
    for name, entry in entries.items():
        for option in entry.options:
            if option.value is not None and option.value != Value():
                patterns = "|".join(shlex.quote(f"{name} {spelled}") for spelled in option.names)
                yield f"    ({patterns})\n{''.join(_assigned(option.value))}      ;;\n"


def _assigned(value: Value) -> Iterator[str]:
    if value.words:
        yield f"      argument=({_quoted(value.words)})\n"
    if value.paths:
        yield f"      paths={value.paths}\n"


def _described(name: str, text: str) -> str:
    return f"{name}:{text}"


def _quoted(words: Iterable[str]) -> str:
    return " ".join(map(shlex.quote, words))
