"""The command line as a whole: one list of options for all commands, and help that can be followed."""

from __future__ import annotations

import argparse
import re
import shlex

import pytest

from magicbyte.cli.flag_meanings import FLAGS
from magicbyte.cli.parsers import parsers, tool_parsers
from magicbyte.kit.command_line import CommandParser
from serdes.console.consume.tool import parser as consumer
from serdes.console.produce.tool import parser as producer

PARSERS = parsers()
#: A command line with another name of an option, and the same with its first one.
SAME = [
    ("consume t --bootstrap-server b:1", "consume t --bootstrap-servers b:1"),
    ("registry --bootstrap-server b:1", "registry --bootstrap-servers b:1"),
    ("registry --port 8085", "registry --listen 0.0.0.0:8085"),
    ("ui --port 8085", "ui --listen 127.0.0.1:8085"),
    ("topics create t --config a=b", "topics create t --topic-config a=b"),
]
MISTYPED = [
    ("consume t --from-begining", "--from-begining; did you mean --from-beginning?"),
    ("consume t --bootstrap-sever=b:1", "--bootstrap-sever=b:1; did you mean --bootstrap-server?"),
    ("pipeline run f --untill-caught-up", "--untill-caught-up; did you mean --until-caught-up?"),
    ("registry --storrage memory:", "--storrage memory:; did you mean --storage?"),
    ("plan --schema-regitsry-url http://r:1", "--schema-regitsry-url http://r:1; did you mean --schema-registry-url?"),
    ("key list --file u --xyz", "--xyz"),
]


def _root(line: str) -> tuple[CommandParser, list[str]]:
    """The parser of a command line, and its arguments."""
    name, *arguments = shlex.split(line)
    return PARSERS[f"magicbyte {name}"], arguments


@pytest.mark.parametrize("name", PARSERS)
def test_every_option_has_the_one_meaning_of_its_name(name: str) -> None:
    for option in PARSERS[name].options:
        first = option.option_strings[0]
        assert first in FLAGS, f"magicbyte/cli/flag_meanings.py lacks {first}"
        if option.nargs == 0:
            assert FLAGS[first].argument == "", first
        elif option.choices is None:
            # Where it depends on the command what follows an option, the list has both.
            argument = FLAGS[first].argument
            assert option.metavar in {argument, *argument.split("|")}, first
        else:
            assert re.fullmatch(r"[A-Z]+(\[=FILE\])?", FLAGS[first].argument), first


def test_the_list_has_no_other_options() -> None:
    used = {option.option_strings[0] for parser in PARSERS.values() for option in parser.options}
    assert set(FLAGS) - used == set()
    assert list(FLAGS) == sorted(FLAGS)


@pytest.mark.parametrize("name", PARSERS)
def test_every_help_ends_with_examples_that_are_accepted(name: str) -> None:
    parser = PARSERS[name]
    title = "example" if len(parser.examples) == 1 else "examples"
    assert parser.format_help().endswith(f"\n{title}:\n" + "".join(f"  {example}\n" for example in parser.examples))
    assert any(example.startswith(name) for example in parser.examples)
    for example in parser.examples:
        for command in re.split(r" \| ", example.partition(" > ")[0]):
            program, line = command.split(" ", 1)
            assert program == "magicbyte"
            root, arguments = _root(line)
            if line.startswith("check explain"):
                root, arguments = PARSERS["magicbyte check explain"], arguments[1:]
            root.parse_args(arguments)


@pytest.mark.parametrize("name", [*PARSERS, *tool_parsers()])
def test_every_argument_and_option_says_what_it_is(name: str) -> None:
    parser = PARSERS.get(name) or tool_parsers()[name]
    shown = [*parser.options, *(action for action in parser.arguments if action.nargs != argparse.PARSER)]
    assert [action.dest for action in shown if not re.match(r"[^\s(]", action.help or "")] == []
    assert parser.description
    assert all(subparser.description for subparser in parser.subcommands.values())


@pytest.mark.parametrize(("other", "first"), SAME)
def test_another_name_of_an_option_means_the_same(other: str, first: str) -> None:
    root, arguments = _root(other)
    assert vars(root.parse_args(arguments)) == vars(root.parse_args(_root(first)[1]))


def test_the_name_of_kafkas_own_tool_is_not_shown() -> None:
    assert " --config " not in PARSERS["magicbyte topics create"].format_help()


@pytest.mark.parametrize(("line", "told"), MISTYPED)
def test_a_mistyped_option_gets_its_nearest(line: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    root, arguments = _root(line)
    with pytest.raises(SystemExit) as ended:
        root.parse_args(arguments)
    assert ended.value.code == 2
    assert capsys.readouterr().err.endswith(f"error: unrecognized arguments: {told}\n")


def test_the_help_of_the_registry_names_every_storage() -> None:
    shown = re.sub(r"\s+", " ", PARSERS["magicbyte registry"].format_help())
    assert "memory:, sqlite:///FILE, postgresql://USER@HOST/DATABASE or kafka:" in shown


def test_servers_have_one_address(capsys: pytest.CaptureFixture[str]) -> None:
    for line, told in (
        ("registry --port 1 --listen h:1", "argument --listen: not allowed with argument --port"),
        ("rest-proxy --port many", "argument --port: invalid port_number value: 'many'"),
    ):
        root, arguments = _root(line)
        with pytest.raises(SystemExit):
            root.parse_args(arguments)
        assert told in capsys.readouterr().err


@pytest.mark.parametrize(("kind", "needed"), [("producer", ["--topic", "t"]), ("consumer", [])])
def test_the_tools_under_confluents_names_have_examples_and_nearest_names(
    kind: str, needed: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    program = f"kafka-avro-console-{kind}"
    parser = (producer if kind == "producer" else consumer)(program)
    for example in parser.examples:
        assert example.startswith(f"{program} --bootstrap-server ")
        parser.parse_args(shlex.split(example)[1:])
    with pytest.raises(SystemExit):
        parser.parse_args([*needed, "--bootstrap-sever", "b:1"])
    assert "--bootstrap-sever b:1; did you mean --bootstrap-server?" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["check", "consume", "produce", "ids", "dead-letter list", "dead-letter purge"])
def test_clients_of_a_broker_have_one_default(name: str) -> None:
    assert PARSERS[f"magicbyte {name}"].get_default("bootstrap_servers") == "localhost:9092"
