"""The tables of the inputs and outputs of the GitHub action, from action.yml."""

from __future__ import annotations

from pathlib import Path

import yaml

ACTION = Path(__file__).parents[1] / "action.yml"


def action_tables() -> str:
    """The tables in Markdown."""
    action = yaml.safe_load(ACTION.read_text(encoding="utf-8"))
    inputs = [f"| `{name}` | `{row['default']}` | {row['description']} |" for name, row in action["inputs"].items()]
    outputs = [f"| `{name}` | {row['description']} |" for name, row in action["outputs"].items()]
    tables = (
        ["| Input | Default | |", "|---|---|---|", *(line.replace("| `` |", "|  |") for line in inputs)],
        ["| Output | |", "|---|---|", *outputs],
    )
    return "\n\n".join("\n".join(table) for table in tables) + "\n"
