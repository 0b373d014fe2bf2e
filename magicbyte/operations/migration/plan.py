"""The plan of a migration: numbered steps with their commands, and the way back."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from magicbyte.operations import servers

#: A target that the user did not name.
_NEW = "http://NEW:8081"


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a plan.

    Attributes:
        text: What is done.
        commands: The commands of the step; none if it is done in another system.
    """

    text: str
    commands: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The step as JSON data."""
        return {"text": self.text, "commands": list(self.commands)}


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan.

    Attributes:
        way: How it moves the schemas, and how long writes wait.
        steps: The steps, in order.
        rollback: The way back, in order.
    """

    way: str
    steps: tuple[Step, ...]
    rollback: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Situation:
    """The facts that a plan depends on.

    Attributes:
        vendor: The vendor of the origin; empty if it is not known.
        source: The origin as the user named it, without secrets.
        target: The target, without secrets; empty if the user named none.
        topics: Topics whose ids are counted.
        bootstrap_servers: The brokers of these topics.
        configs: The files with the origin's credentials.
        target_configs: The files with the target's credentials.
    """

    vendor: str
    source: str
    target: str = ""
    topics: Sequence[str] = ()
    bootstrap_servers: str = ""
    configs: Sequence[str] = ()
    target_configs: Sequence[str] = ()

    def files(self, *, source: str = "", target: str = "") -> tuple[str, ...]:
        """The options that name the files of credentials, by the options' names at a command; empty for none."""
        named = [(source, file) for file in self.configs if source]
        named += [(target, file) for file in self.target_configs if target]
        return tuple(word for option, file in named for word in (f"--{option}", file))

    @property
    def to(self) -> str:
        """The target, or a name to be replaced."""
        return self.target or _NEW


def make_plan(situation: Situation) -> Plan:
    """The plan for an origin."""
    return _takeover(situation) if situation.source.startswith("kafka:") else _by_api(situation)


def _takeover(situation: Situation) -> Plan:
    place = situation.source.removeprefix("kafka:")
    brokers, _, topic = place.partition("/")
    source = f"kafka:{brokers}/{topic or '_schemas'}"
    settings = shlex.join(
        (
            f"kafkastore.bootstrap.servers={brokers}",
            f"kafkastore.topic={topic or '_schemas'}",
            "listeners=http://0.0.0.0:8081",
        )
    )
    return Plan(
        "the same Kafka: stop theirs, start ours on the topic; writes wait for seconds",
        (
            Step("Check the topic", (_command("fsck", source),)),
            Step("Back up its records, byte for byte", (_backup(source, "before.ndjson.zst", "--format", "raw"),)),
            Step("Stop ALL nodes of the other registry: two kinds of writers give one id to two schemas"),
            Step(
                "Start ours on the topic, with the other registry's settings if they are Confluent's",
                (f"printf '%s\\n' {settings} > registry.properties", "magicbyte registry --config registry.properties"),
            ),
            Step("Compare it with the backup: no difference", (_command("diff", "before.ndjson.zst", situation.to),)),
            *_count_ids(situation, brokers),
            Step("Let clients register again; their URL stays if ours has the address of the other registry"),
        ),
        (
            Step("Stop all of our nodes"),
            Step("Start the other registry on the topic: it passes over the key types that only ours has"),
            Step(
                "If the topic itself was harmed: bring the backup into a new topic, and start the other registry on it",
                (_command("restore", "before.ndjson.zst", "--to", f"kafka:{brokers}/{topic or '_schemas'}-before"),),
            ),
        ),
    )


def _by_api(situation: Situation) -> Plan:
    origin, target = situation.source, situation.to
    files = situation.files
    # A mirror's target has modes of its own, and other registries do not tell when versions were registered.
    ignored = "mode" if situation.vendor == servers.MAGICBYTE else "mode,ts"
    freeze, thaw = _MODES.get(situation.vendor, _no_modes)(origin)
    return Plan(
        "by the API: copy, mirror until the switch, compare, switch; writes wait for minutes",
        (
            Step("Copy the origin to a file", (_backup(origin, "origin.ndjson.zst", *files(source="config")),)),
            Step(
                "Restore it, with ids and versions",
                (_command("restore", "origin.ndjson.zst", "--to", target, *files(target="to-config")),),
            ),
            Step(
                "Follow the origin until the switch",
                (
                    _command(
                        "mirror", "--from", origin, "--to", target, *files(source="from-config", target="to-config")
                    ),
                ),
            ),
            freeze,
            Step(
                "Compare both: no difference",
                (
                    _command(
                        *("diff", origin, target, "--ignore", ignored),
                        *files(source="config", target="other-config"),
                    ),
                ),
            ),
            *_count_ids(situation, situation.bootstrap_servers),
            Step(
                "Stop the mirror, and let the new registry take writes",
                # The origin is frozen, so no id is unknown.
                (
                    _command(
                        *("dr", "promote", "--to", target, "--from", origin, "--id-gap", "0"),
                        *files(source="from-config", target="to-config"),
                    ),
                ),
            ),
            Step("Switch the DNS name, or the clients' schema.registry.url, to the new registry"),
        ),
        (
            Step("Switch the name back to the origin"),
            thaw,
            Step(
                "Bring back what was registered meanwhile, with its ids; --dry-run lists what the origin cannot hold",
                (
                    _backup(target, "after.ndjson.zst", *files(target="config")),
                    _command("restore", "after.ndjson.zst", "--to", origin, *files(source="to-config"), "--dry-run"),
                    _command("restore", "after.ndjson.zst", "--to", origin, *files(source="to-config")),
                ),
            ),
        ),
    )


def _count_ids(situation: Situation, brokers: str) -> tuple[Step, ...]:
    if not situation.topics:
        return ()
    options = ("--bootstrap-servers", brokers, "--schema-registry-url", situation.to, "--fail-unknown")
    return (
        Step("See that the new registry has each id of the topics", (_command("ids", *situation.topics, *options),)),
    )


def _backup(source: str, file: str, *options: str) -> str:
    return _command("backup", source, "-o", file, *options)


def _command(*words: str) -> str:
    return shlex.join(("magicbyte", *words))


def _modes(origin: str) -> tuple[Step, Step]:
    return (
        Step("Let the origin take no more schemas", (_put_mode(origin, "READONLY"),)),
        Step("Let the origin take schemas again", (_put_mode(origin, "READWRITE"),)),
    )


def _no_modes(_origin: str) -> tuple[Step, Step]:
    return (
        Step(
            "Stop what registers schemas, or refuse POST, PUT and DELETE in the proxy before the origin: it has no "
            "mode READONLY"
        ),
        Step("Let the proxy before the origin pass requests that write again"),
    )


def _put_mode(origin: str, mode: str) -> str:
    body = f'{{"mode": "{mode}"}}'
    return shlex.join(
        ("curl", "-f", "-X", "PUT", "-H", "Content-Type: application/json", "-d", body, f"{origin.rstrip('/')}/mode")
    )


#: Vendor -> the steps that freeze the origin and let it go.
_MODES: Mapping[str, Callable[[str], tuple[Step, Step]]] = {
    servers.MAGICBYTE: _modes,
    servers.CONFLUENT: _modes,
    servers.CONFLUENT_CLOUD: _modes,
    servers.AXONOPS: _modes,
    servers.REDPANDA: _modes,
}
