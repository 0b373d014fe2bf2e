"""`magicbyte config from-confluent`: Confluent's settings, sorted by what our servers do with them."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from magicbyte.cli.config.checking import Refusals, warnings_of_settings
from magicbyte.cli.config.compose_file import PREFIXES, properties_of, server_of, service_environment
from magicbyte.cli.config.explaining import shown
from magicbyte.cli.config.references import catalog_of
from magicbyte.cli.config.verdicts import Judge, Kind, Verdict
from magicbyte.cli.tables import aligned
from magicbyte.kit.inert import inert_lines
from magicbyte.kit.placeholders import placeholders_in
from magicbyte.kit.secret import is_secret
from magicbyte.kit.settings.place import place_of
from magicbyte.kit.settings.property_sources import properties_of_file
from serdes.console.outcome import BAD_DATA, BAD_USAGE, OK, Ended

#: Names that only one server has, to tell whose file it is.
_OF_REGISTRY = ("kafkastore.", "kafkagroup.", "schema.compatibility.", "leader.", "master.", "avro.compatibility.")
_OF_PROXY = (
    "bootstrap.servers",
    "schema.registry.url",
    "consumer.",
    "producer.",
    "client.",
    "api.v",
    "simpleconsumer.",
)


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of a server of Confluent's.

    Attributes:
        source: Where they come from, such as a file and a service.
        server: The server, as our commands name it.
        properties: The properties; they know their places.
        others: Variables that are no properties.
    """

    source: str
    server: str
    properties: Mapping[str, str]
    others: Sequence[str] = ()


def convert(options: argparse.Namespace) -> int:
    """Print the verdicts, and write our properties; returns 1 if a setting is refused or unknown."""
    settings = _read(options.file, options.server, options.service)
    verdicts = [*verdicts_on(settings)]
    if options.output_file is not None:
        _write(options.output_file, settings, verdicts)
    _print(settings, verdicts, as_json=options.output == "json")
    return BAD_DATA if any(item.kind in (Kind.REFUSED, Kind.UNKNOWN) for item in verdicts) else OK


def verdicts_on(settings: Settings) -> Iterator[Verdict]:
    """The verdict on each setting, and on the defaults of Confluent's that differ."""
    judge = Judge(catalog_of(settings.server), catalog_of("ui"))
    verdicts = [judge.verdict(name, value) for name, value in settings.properties.items()]
    for name, value in _usual(settings).items():
        verdicts.append(Verdict(name, Kind.HONOURED, "not given; this is Confluent's default", {name: value}))
    honoured = {name: value for item in verdicts for name, value in (item.properties or {}).items()}
    problems = _problems(settings.server, honoured)
    for item in verdicts:
        wrong = [problems.pop(name) for name in (item.properties or {}) if name in problems]
        yield replace(item, kind=Kind.REFUSED, reason="; ".join(wrong), properties=None) if wrong else item
    for name, problem in problems.items():
        yield Verdict(name, Kind.REFUSED, problem)
    for variable in settings.others:
        yield Verdict(variable, Kind.UNKNOWN, "a variable that is no setting of the server")


def _usual(settings: Settings) -> dict[str, str]:
    """Defaults of Confluent's servers that differ from ours, if a setting needs them."""
    usual = {"listeners": "http://0.0.0.0:8081"} if settings.server == "registry" else {}
    if settings.properties.get("authentication.method", "NONE").strip().upper() != "NONE":
        usual["authentication.roles"] = "*"
    return {name: value for name, value in usual.items() if name not in settings.properties}


def _problems(server: str, honoured: Mapping[str, str]) -> dict[str, str]:
    """Problems that our server finds in the honoured settings, by name; files that they name are not read."""
    kept = {name: str(value) for name, value in honoured.items() if not placeholders_in(value)}
    found = Refusals(kept)
    found.dropped |= honoured.keys() - kept.keys()
    with warnings_of_settings():
        if server == "registry":
            from magicbyte.cli.config.registry_checks import find_problems_of_values  # noqa: PLC0415 - needs the extra
        else:
            from magicbyte.cli.config.rest_proxy_checks import find_problems_of_values  # noqa: PLC0415
        find_problems_of_values(dict(kept), found)
    problems: dict[str, str] = {}
    for text in found.texts:
        name, _, problem = text.partition(": ")
        problems[name] = f"{problems[name]}; {problem}" if name in problems else problem
    return problems


def _read(file: Path, server: str | None, service: str | None) -> Settings:
    if file.suffix.lower() in (".yml", ".yaml"):
        name, environment = service_environment(file, service)
        owner = server or server_of(environment)
        if owner is None:
            raise Ended(BAD_DATA, f"{file}: {name} has no variable that begins with {' or '.join(PREFIXES.values())}")
        properties, others = properties_of(environment, owner)
        return Settings(f"{file}, service {name}", owner, properties, others)
    if service is not None:
        raise Ended(BAD_USAGE, "--service: only a compose file (.yml, .yaml) has services")
    try:
        properties = properties_of_file(file)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise Ended(BAD_USAGE, f"{file} cannot be read: {reason}") from None
    return Settings(str(file), server or _owner(file, properties), properties)


def _owner(file: Path, properties: Mapping[str, str]) -> str:
    """The server whose properties a file has, by their names."""
    registry = sum(name.startswith(_OF_REGISTRY) for name in properties)
    proxy = sum(name.startswith(_OF_PROXY) for name in properties)
    if registry == proxy:
        raise Ended(BAD_USAGE, f"{file}: the names do not tell whose settings these are; add --server")
    return "registry" if registry > proxy else "rest-proxy"


def _print(settings: Settings, verdicts: Sequence[Verdict], *, as_json: bool) -> None:
    if as_json:
        rows = [_as_json(settings, item) for item in verdicts]
        result = {"server": settings.server, "source": settings.source, "settings": rows}
        sys.stdout.write(json.dumps(result, indent=2) + "\n")
        return
    lines = [f"{settings.source}: settings of `magicbyte {settings.server}`"]
    for kind in Kind:
        items = [item for item in verdicts if item.kind is kind]
        if items:
            lines.append(f"\n{kind} ({len(items)})")
            # A blank head keeps the columns of the verdict aligned.
            lines += list(aligned([("", "", ""), *map(_cells, items)]))[1:]
    sys.stdout.writelines(f"{inert_lines(line)}\n" for line in lines)


def _cells(item: Verdict) -> tuple[str, str, str]:
    ours = item.properties or {}
    values = [shown(value, secret=is_secret(name)) for name, value in ours.items()]
    named = [value if name == item.name else f"{name}={value}" for name, value in zip(ours, values, strict=True)]
    return item.name, " ".join(named), item.reason


def _as_json(settings: Settings, item: Verdict) -> Mapping[str, object]:
    place = str(place_of(settings.properties.get(item.name)))
    ours = {name: shown(value, secret=is_secret(name)) for name, value in (item.properties or {}).items()}
    return {
        "name": item.name,
        "verdict": str(item.kind),
        **({"place": place} if place else {}),
        **({"reason": item.reason} if item.reason else {}),
        **({"properties": ours} if ours else {}),
    }


def _write(path: Path, settings: Settings, verdicts: Sequence[Verdict]) -> None:
    from magicbyte.kit.settings.catalog_formats import escaped  # noqa: PLC0415 - needs the extra

    lines = [f"# From {settings.source}, by magicbyte config from-confluent."]
    for item in verdicts:
        lines += [f"{name}={escaped(value)}" for name, value in (item.properties or {}).items()]
    for kind in (Kind.WITHOUT_EFFECT, Kind.REFUSED, Kind.UNKNOWN):
        items = [item for item in verdicts if item.kind is kind]
        lines += ["", f"# {kind}:"] * bool(items)
        lines += [f"# {item.name}{f': {item.reason}' if item.reason else ''}" for item in items]
    try:
        # The file may have passwords.
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:  # noqa: PTH123
            file.write(inert_lines("\n".join(lines)) + "\n")
    except FileExistsError:
        raise Ended(BAD_USAGE, f"--output-file {path} exists; name another file, or remove it") from None
    except OSError as error:
        raise Ended(BAD_USAGE, f"--output-file {path} cannot be written: {error.strerror}") from None
