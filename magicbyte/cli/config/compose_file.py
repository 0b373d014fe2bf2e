"""The environment of a service in a compose file, as properties of Confluent's servers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from magicbyte.cli.servers.configured import SERVERS
from magicbyte.kit.environment import variables_of_properties
from magicbyte.kit.settings.place import Place, PlacedText
from serdes.console.outcome import BAD_DATA, BAD_USAGE, Ended

#: Server -> the beginning of the variables that are its properties.
PREFIXES = {name: server.prefix for name, server in SERVERS.items()}
#: Variables of Confluent's images without the prefix -> server and property.
_OTHERS = {
    "METADATA_ENCODER_SECRET": ("registry", "metadata.encoder.secret"),
    "METADATA_ENCODER_OLD_SECRET": ("registry", "metadata.encoder.old.secret"),
    **{
        f"KAFKAREST_{name}": ("rest-proxy", name.lower().replace("_", "."))
        for name in ("OPTS", "HEAP_OPTS", "JMX_OPTS", "JVM_PERFORMANCE_OPTS", "LOG4J_OPTS")
    },
}
#: `$$`, `$NAME`, `${NAME}`, and `${NAME}` with a default or an error.
_VARIABLE = re.compile(r"\$(?:(\$)|(\w+)|\{(\w+)(?::?([-?+])([^}]*))?\})")
#: A variable within another's default, and a text in place of a variable: our placeholders have neither.
_UNREADABLE = re.compile(r"(?<!\$)(?:\$\$)*\$\{\w+(?::?\+|:?[-?][^}]*\$)")

Environment = dict[str, str]


def service_environment(file: Path, service: str | None) -> tuple[str, Environment]:
    """The name of a service and its environment, with variables of the shell as placeholders `${env:NAME}`.

    Args:
        file: The compose file.
        service: The service; None if it is the only one with settings.

    Raises:
        Ended: The file cannot be read, or no service or several fit.
    """
    import yaml  # noqa: PLC0415 - only for compose files

    try:
        document = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError, ValueError, RecursionError) as error:  # ValueError: a wrong date, or no UTF-8
        raise Ended(BAD_USAGE, f"{file} cannot be read: {_reason(error)}") from None
    services = document.get("services") if isinstance(document, dict) else None
    if not isinstance(services, dict):
        raise Ended(BAD_DATA, f"{file} has no services")
    wrong = next((name for name, item in services.items() if not isinstance(item, dict)), None)
    if wrong is not None:
        raise Ended(BAD_DATA, f"{file}: service {wrong} must be a mapping")
    environments = {name: dict(_variables(file, name, item)) for name, item in services.items()}
    if service is not None and service not in environments:
        raise Ended(BAD_USAGE, f"--service {service}: {file} has {', '.join(environments)}")
    with_settings = [name for name, environment in environments.items() if server_of(environment)]
    names = with_settings if service is None else [service]
    if len(names) != 1:
        several = (
            f"several with settings: {', '.join(names)}; choose one by --service" if names else "none with settings"
        )
        raise Ended(BAD_USAGE, f"{file} has {len(services)} services, {several}")
    return names[0], environments[names[0]]


def server_of(environment: Mapping[str, str]) -> str | None:
    """The server whose variables an environment has; None if it has none of a server's."""
    return next((server for server, prefix in PREFIXES.items() if any(v.startswith(prefix) for v in environment)), None)


def properties_of(environment: Environment, server: str) -> tuple[dict[str, str], list[str]]:
    """The properties of a server in an environment, and the variables that are none."""
    read = variables_of_properties(PREFIXES[server], environment.items())
    properties = {name: PlacedText(value, Place(variable)) for name, (value, variable) in read.items()}
    for variable, (owner, name) in _OTHERS.items():
        if variable in environment and owner == server:
            properties[name] = PlacedText(environment[variable], Place(variable))
    used = {value.place.file for value in properties.values()}
    return {**properties}, [variable for variable in environment if variable not in used]


def _variables(file: Path, service: str, item: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for entry in _listed(item.get("env_file")):
        name, required = (entry.get("path"), entry.get("required", True)) if isinstance(entry, dict) else (entry, True)
        path = file.parent / str(name)
        if name is not None and path.is_file():
            try:
                text = path.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise Ended(BAD_DATA, f"{file}: {service}: env_file {name} cannot be read: {_reason(error)}") from None
            yield from _lines(text)
        elif required:
            raise Ended(BAD_DATA, f"{file}: {service}: env_file {name} cannot be read")
    environment = item.get("environment") or {}
    if not isinstance(environment, dict | list):
        raise Ended(BAD_DATA, f"{file}: {service}: environment must be a mapping or a list")
    pairs: list[tuple[Any, Any]]
    if isinstance(environment, dict):
        pairs = [*environment.items()]
    else:
        pairs = [
            (name, value if equals else None) for name, equals, value in (str(e).partition("=") for e in environment)
        ]
    for name, value in pairs:
        text = f"${{env:{name}}}" if value is None else _text(value)
        if value is not None and _UNREADABLE.search(text):
            problem = "its value has a variable within a default, or a ${NAME:+TEXT}; write what it stands for"
            raise Ended(BAD_DATA, f"{file}: {service}: {name}: {problem}")
        yield str(name), text if value is None else _placeholders(text)


def _lines(text: str) -> Iterator[tuple[str, str]]:
    for line in map(str.strip, text.splitlines()):
        name, equals, value = line.partition("=")
        if equals and not line.startswith("#"):
            yield name.strip(), value.strip().strip("\"'")


def _listed(value: Any) -> list[Any]:
    return [] if value is None else value if isinstance(value, list) else [value]


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _placeholders(text: str) -> str:
    """A text with compose's variables as ours; `$$` is a dollar sign."""

    def ours(match: re.Match[str]) -> str:
        if match[1]:
            return "$"
        default = f":-{match[5]}" if match[4] == "-" else ""
        return f"${{env:{match[2] or match[3]}{default}}}"

    return _VARIABLE.sub(ours, text)


def _reason(error: Exception) -> str:
    if isinstance(error, OSError):
        return error.strerror or str(error)
    mark = getattr(error, "problem_mark", None)
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    known = "it is no UTF-8 text" if isinstance(error, UnicodeDecodeError) else str(error)
    problem = getattr(error, "problem", None) or known
    return f"{problem} in line {mark.line + 1}" if mark is not None else str(problem)
