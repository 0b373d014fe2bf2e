"""The `magicbyte` command: looks up the subcommand in a table and imports only its module."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from magicbyte.kit.extras import ExtraMissing, require, run_again_with_uvx
from magicbyte.kit.failure import Failure, say
from magicbyte.kit.standard_output import flush_stdout, watch_stdout


@dataclass(frozen=True, slots=True)
class Command:
    """A subcommand.

    Attributes:
        module: The module with its `main(arguments) -> exit code`.
        help: Its line in --help.
        extras: The extras that it needs, except for its own --help.
    """

    module: str
    help: str
    extras: tuple[str, ...] = ()


_SERVER = ("server",)
#: The exit code if stdout cannot be written, as of the console tools.
UNWRITABLE = 3

COMMANDS = {
    "up": Command(
        "magicbyte.cli.servers.up", "run a broker, a schema registry and a REST proxy on this machine", _SERVER
    ),
    "broker": Command("magicbyte.cli.servers.broker", "run a single Kafka broker on this machine", _SERVER),
    "registry": Command("magicbyte.cli.servers.registry", "run the schema registry", _SERVER),
    "rest-proxy": Command("magicbyte.cli.servers.rest_proxy", "run the Kafka REST proxy", _SERVER),
    "ui": Command("magicbyte.cli.servers.ui", "show any registry in the browser", _SERVER),
    "serve": Command("magicbyte.cli.servers.serve", "run the server that the environment configures", _SERVER),
    "health": Command("magicbyte.cli.servers.health", "ask a server here whether it is alive, or ready"),
    "check": Command(
        "magicbyte.cli.check.main", "check schema files against a git ref, a folder, a lock, a registry or a topic"
    ),
    "rules": Command("magicbyte.cli.rules.main", "explain, check, try and measure the rules of schemas"),
    "generate": Command("magicbyte.cli.generate.main", "write typed Python records for schemas"),
    "upgrade": Command(
        "magicbyte.cli.upgrade.main", "check an upgrade before it begins, and let the leader give up the lead", _SERVER
    ),
    "register": Command("magicbyte.cli.registry_state.register", "register a project's schemas, references first"),
    "download": Command("magicbyte.cli.registry_state.download", "write a registry's schemas, or its state, to files"),
    "set-compatibility": Command(
        "magicbyte.cli.registry_state.set_compatibility", "set the levels of subjects, or the global one"
    ),
    "plan": Command("magicbyte.cli.registry_state.plan", "show what `apply` would change in a registry"),
    "apply": Command("magicbyte.cli.registry_state.apply", "change a registry's state to match the files"),
    "restore": Command(
        "magicbyte.cli.restore.main", "write a backup into a registry, a topic or a database, and read it back", _SERVER
    ),
    "verify": Command("magicbyte.cli.restore.verifying", "compare a backup with what it was restored into", _SERVER),
    "backup": Command("magicbyte.cli.backup.main", "write a registry to a file that is complete or not there", _SERVER),
    "migrate": Command(
        "magicbyte.cli.migrate.main", "check another registry before a migration, and print the plan", _SERVER
    ),
    "topics": Command("magicbyte.cli.topics.main", "list, create, describe, alter and delete topics"),
    "groups": Command(
        "magicbyte.cli.groups.main", "list and describe consumer groups, reset their offsets, delete them"
    ),
    "produce": Command("magicbyte.cli.records.produce", "send lines as records, with a schema or as plain text"),
    "consume": Command("magicbyte.cli.records.consume", "show a topic's records as JSON lines, whatever their schemas"),
    "ids": Command("magicbyte.cli.ids.main", "count a topic's records by the schema ids that they really have"),
    "dead-letter": Command(
        "magicbyte.cli.dead_letter.main", "list, show, replay and purge records that could not be processed"
    ),
    "pipeline": Command("magicbyte.cli.pipeline.main", "run Spark jobs from a YAML file"),
    "diff": Command("magicbyte.cli.diff.main", "compare two registries, or what they were backed up to", _SERVER),
    "systemd": Command("magicbyte.cli.systemd.main", "print or install the systemd units of the servers"),
    "spark-packages": Command(
        "magicbyte.cli.pipeline.packages", "print the Maven packages that Spark needs for a pipeline file"
    ),
    "secure": Command("magicbyte.cli.security.secure", "make certificates, users and rules for a first try", _SERVER),
    "user": Command("magicbyte.cli.security.user", "change a users file: who signs in with a password", _SERVER),
    "key": Command("magicbyte.cli.security.key", "make API keys for programs", _SERVER),
    "acl": Command("magicbyte.cli.security.acl", "show and change access rules, and find the one that decides"),
    "config": Command(
        "magicbyte.cli.config.main", "print, explain and check settings, and convert those of Confluent's servers"
    ),
    "completion": Command("magicbyte.cli.completion.main", "print the completion of commands for bash, zsh or fish"),
    "fsck": Command(
        "magicbyte.cli.fsck.main", "check the log and the schemas of a registry, and repair its log", _SERVER
    ),
    "settings-schema": Command(
        "magicbyte.cli.settings_schema", "print the JSON Schema of a server's, a client's or a serializer's settings"
    ),
    "mirror": Command("magicbyte.cli.mirror.main", "keep one registry equal to another, change by change", _SERVER),
    "dr": Command("magicbyte.cli.dr.main", "go over to a standby registry, or try a recovery out", _SERVER),
    "capacity": Command("magicbyte.cli.capacity.main", "estimate the memory, disk and cores that a load needs"),
    "demo": Command(
        "magicbyte.cli.demo.main",
        "send a year of flights through the platform, and check the sums",
        ("server", "spark", "demo"),
    ),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the subcommand in the first argument and return its exit code.

    It is 1 for a failure, 2 for wrong arguments, and 3 if stdout cannot be written, for example on a full disk.
    """
    stdout = watch_stdout() if arguments is None else None
    ended: OSError | SystemExit | None = None
    code = 0
    try:
        code = _run(arguments)
    except (OSError, SystemExit) as error:
        ended = error
    unwritable = flush_stdout()
    if ended is not None and stdout is not None and stdout.error is ended:
        unwritable = stdout.error
    # A reader that closes stdout after the last line was written, such as `head`, has what it wants.
    elif isinstance(unwritable, BrokenPipeError):
        unwritable = None
    if unwritable is not None:
        say(f"stdout cannot be written: {unwritable.strerror}")
        return UNWRITABLE
    if ended is not None:
        raise ended
    return code


def _run(arguments: Sequence[str] | None) -> int:
    name, *rest = (sys.argv[1:] if arguments is None else arguments) or ["--help"]
    if name in _OPTIONS:
        sys.stdout.write(_OPTIONS[name]())
        return 0
    command = COMMANDS.get(name)
    if command is None:
        say(_unknown(name))
        return 2
    try:
        if not _HELP & set(rest):
            require(*command.extras, user=f"`magicbyte {name}`")
        return _load(command)(rest)
    except ExtraMissing as missing:
        run_again_with_uvx(missing, [name, *rest])
        say(str(missing))
        return 1
    except Failure as failure:
        say(str(failure))
        return 1
    except KeyboardInterrupt:
        return 130


def _load(command: Command) -> Callable[[Sequence[str]], int]:
    import importlib  # noqa: PLC0415 - --help does not need it

    run: Callable[[Sequence[str]], int] = importlib.import_module(command.module).main
    return run


def _unknown(name: str) -> str:
    import difflib  # noqa: PLC0415 - as above

    near = difflib.get_close_matches(name, COMMANDS, n=1)
    hint = f"did you mean {near[0]!r}?" if near else "`magicbyte --help` lists them"
    return f"there is no command {name!r}; {hint}"


def _help() -> str:
    width = max(map(len, COMMANDS))
    lines = [f"  {name:{width}}  {command.help}\n" for name, command in COMMANDS.items()]
    return (
        "usage: magicbyte COMMAND [OPTION ...]\n\n"
        + "".join(lines)
        + "\n`magicbyte COMMAND --help` lists a command's options; `magicbyte --version` prints the version.\n"
    )


def _version() -> str:
    from importlib.metadata import version  # noqa: PLC0415 - as above

    return f"magicbyte {version('magicbyte')}\n"


_HELP = {"--help", "-h"}
_OPTIONS = {"--help": _help, "-h": _help, "help": _help, "--version": _version, "-V": _version}

if __name__ == "__main__":
    sys.exit(main())
