"""The parser of every command: its help ends with examples, and a mistyped option gets its nearest."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

#: How alike a mistyped option and the one that is suggested have to be, from 0 to 1.
_LIKENESS = 0.6


#: Whether the parser of a command is wanted, and no run of it.
_is_wanted: ContextVar[bool] = ContextVar("_is_wanted", default=False)


class _Complete(Exception):
    """Ends a command when its parser is complete."""

    def __init__(self, parser: CommandParser) -> None:
        self.parser = parser


class CommandParser(argparse.ArgumentParser):
    """A parser whose help ends with examples.

    Args:
        examples: Command lines as a user types them; `--help` prints each on a line of its own.
        settings: Those of argparse's parser.
    """

    def __init__(self, *, examples: Sequence[str] = (), **settings: Any) -> None:
        settings.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        super().__init__(**settings)
        self.examples = tuple(examples)

    def format_help(self) -> str:
        """The help, and the examples after it."""
        title = "example" if len(self.examples) == 1 else "examples"
        lines = "".join(f"  {example}\n" for example in self.examples)
        return f"{super().format_help()}\n{title}:\n{lines}" if lines else super().format_help()

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse all arguments: here, where a subcommand's own options are known, an unknown one ends the program."""
        if _is_wanted.get():
            raise _Complete(self)
        options, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}{self._nearest(unknown)}")
        return options, unknown

    @property
    def options(self) -> list[argparse.Action]:
        """The options that the help shows, without `--help`."""
        shown = (action for action in self._actions if action.option_strings and action.help != argparse.SUPPRESS)
        return [action for action in shown if "--help" not in action.option_strings]

    @property
    def arguments(self) -> list[argparse.Action]:
        """The arguments without a name that the help shows; the one for a subcommand is among them."""
        return [action for action in self._actions if not action.option_strings and action.help != argparse.SUPPRESS]

    @property
    def subcommands(self) -> dict[str, CommandParser]:
        """The parsers of its subcommands, by their names."""
        choices = (action.choices for action in self._actions if action.nargs == argparse.PARSER)
        return {name: parser for parsers in choices if isinstance(parsers, dict) for name, parser in parsers.items()}

    def _nearest(self, unknown: Sequence[str]) -> str:
        import difflib  # noqa: PLC0415 - only after a mistake

        present = {name: name for option in self.options for name in option.option_strings}
        for action in self._actions:
            if isinstance(action, _HiddenName):
                present |= dict.fromkeys(action.option_strings, action.stands_for.option_strings[0])
        near = (difflib.get_close_matches(text.partition("=")[0], present, 1, _LIKENESS) for text in unknown)
        names = dict.fromkeys(present[name] for match in near for name in match)
        return f"; did you mean {' and '.join(names)}?" if names else ""


def parser_of_main(main: Callable[[Sequence[str]], object], arguments: Sequence[str] = ()) -> CommandParser:
    """Return the parser that a command makes, without running the command.

    Args:
        main: The command's function, which parses the arguments before it does anything else.
        arguments: The arguments that make it choose this parser.
    """
    wanted = _is_wanted.set(True)
    try:
        main(arguments)
    except _Complete as complete:
        return complete.parser
    finally:
        _is_wanted.reset(wanted)
    raise AssertionError(f"{main.__module__} parsed no arguments")


class _HiddenName(argparse.Action):
    """An option that acts as another one."""

    def __init__(self, option_strings: Sequence[str], dest: str, *, stands_for: argparse.Action, **_: Any) -> None:
        super().__init__(
            option_strings, dest, nargs=stands_for.nargs, default=argparse.SUPPRESS, help=argparse.SUPPRESS
        )
        self.type, self.choices = stands_for.type, stands_for.choices
        self.stands_for = stands_for

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, name: str | None = None
    ) -> None:
        self.stands_for(parser, namespace, values, name)


def accept_hidden_names(parser: argparse._ActionsContainer, option: argparse.Action, *names: str) -> None:
    """Accept an option under the names that other tools have for it; the help does not show them.

    Args:
        parser: The parser of the option. If the option is required, a mutually exclusive group that is.
        option: What `add_argument` returned for the option.
        names: The other names.
    """
    if names:
        parser.add_argument(*names, dest=option.dest, action=_HiddenName, stands_for=option)
