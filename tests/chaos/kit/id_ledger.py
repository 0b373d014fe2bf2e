"""An independent record of what registries gave and hold; it reads their HTTP APIs and shares nothing with mirrors."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

#: A name of a setting or version, and what it is, both as JSON texts.
Facts = dict[str, str]


#: One for all: to make a client takes longer than an export.
_CLIENT = httpx.Client(timeout=60)


def context_of(subject: str) -> str:
    """The context of a subject: `:.eu:orders` is in `.eu`."""
    return subject.split(":")[1] if subject.startswith(":") else "."


def text_of(schema: Mapping[str, Any]) -> str:
    """A schema as text: its type, its parsed text and its references."""
    text = schema["schema"]
    if schema.get("schemaType", "AVRO") != "PROTOBUF":
        text = json.loads(text)
    references = [[one["name"], one["subject"], one["version"]] for one in schema.get("references") or ()]
    return json.dumps([schema.get("schemaType", "AVRO"), text, references], sort_keys=True)


def export_of(url: str) -> list[dict[str, Any]]:
    """The lines of a registry's export."""
    answer = _CLIENT.get(f"{url}/export")
    answer.raise_for_status()
    return [json.loads(line) for line in answer.text.splitlines()]


def facts_of(lines: Iterable[Mapping[str, Any]]) -> Facts:
    """The facts of an export: versions with id, text and deletion, configs, and contexts with their highest ids."""
    facts: Facts = {}
    for line in lines:
        match line["kind"]:
            case "schema":
                fact = [line["id"], bool(line["deleted"]), text_of(line)]
                facts[f"version {line['subject']} {line['version']}"] = json.dumps(fact)
            case "config":
                facts[f"config {line.get('subject', '')}"] = json.dumps(line["config"], sort_keys=True)
            case "context":
                facts[f"context {line['context']}"] = json.dumps([line["listed"], line["maxId"]])
    return facts


def highest_of(lines: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Context -> the highest id that it has given."""
    return {line["context"]: line["maxId"] for line in lines if line["kind"] == "context"}


def differences(left: Facts, right: Facts) -> list[str]:
    """The differences between two registries."""
    return [
        f"{name}: {left.get(name)} / {right.get(name)}"
        for name in sorted(left | right)
        if left.get(name) != right.get(name)
    ]


@dataclass
class Ledger:
    """Every id that any registry gave, and to which text.

    Attributes:
        given: (context, id) -> the text, and who gave the id.
        highest: (registry, context) -> the highest id that its clients were told, or its exports named.
        problems: The ids that were given to two texts, each a sentence.
    """

    given: dict[tuple[str, int], tuple[str, str]] = field(default_factory=dict)
    highest: dict[tuple[str, str], int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def note(self, who: str, subject: str, schema_id: int, text: str) -> None:
        """Note that a registry gave an id to a text, or shows it for one."""
        context = context_of(subject)
        self.highest[who, context] = max(self.highest.get((who, context), 0), schema_id)
        first, giver = self.given.setdefault((context, schema_id), (text, who))
        if first != text:
            self.problems.append(
                f"id {schema_id} of context {context} was given to two texts: {giver}: {first}; {who}: {text}"
            )

    def note_export(self, who: str, lines: Iterable[Mapping[str, Any]]) -> None:
        """Note all ids of an export."""
        for line in lines:
            if line["kind"] == "schema":
                self.note(who, line["subject"], line["id"], text_of(line))

    def most_lost(self, who: str, seen: Mapping[str, int], floor: int) -> int:
        """The most ids of a context that a registry gave above those that its standby has seen.

        Args:
            who: The lost registry.
            seen: Context -> the highest id in the standby.
            floor: Above which a context begins that the standby has not seen.
        """
        lost = (last - (seen.get(context) or floor) for (giver, context), last in self.highest.items() if giver == who)
        return max([0, *lost])


def unexplained(facts: Facts, history: list[Facts]) -> list[str]:
    """The facts of a standby that its source never had since the mirror acknowledged the first of its states.

    Each version and config has to be what it was in one of the states; the highest ids may be any between them.
    """
    names = set(facts) | {name for state in history for name in state}
    problems = []
    for name in sorted(names):
        if name.startswith("context "):
            continue
        ever = {state.get(name) for state in history}
        if facts.get(name) not in ever:
            problems.append(f"{name} is {facts.get(name)} in the standby, and was {ever} in its source")
    return problems
