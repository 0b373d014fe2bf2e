"""A pipeline as another program will run it: its file without the values of placeholders and secrets."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from magicbyte.cli.pipeline.deploy.overrides import refuse_secrets
from magicbyte.cli.pipeline.session import converted
from magicbyte.kit.extras import require
from magicbyte.kit.placeholders import placeholders_in
from magicbyte.kit.secret import has_secret, is_secret
from magicbyte.kit.settings.nodes import KeptText, ListNode, MapNode, Node, ScalarNode
from serdes.console.outcome import BAD_USAGE, Ended

if TYPE_CHECKING:
    from spark_avro.pipeline.file.pipeline import Pipeline

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Declared:
    """The parts of a pipeline that may be printed.

    Attributes:
        file: The absolute path of the file.
        pipeline: The settings, with placeholders as texts; a number or duration from a placeholder is UNRESOLVED.
        included: The included files, with the paths that the `include` settings give.
        runs_on: Whether it runs until it is stopped.
        spark: Spark's properties, without secrets and without values that have placeholders.
        hidden: The names of the other properties.
        variables: The variables that placeholders name, and whether they need a value.
        files: The files and folders that placeholders name.
        arguments: `--name` and `--set` as they were given.
    """

    file: Path
    pipeline: Pipeline
    included: Mapping[Path, str]
    runs_on: bool
    spark: Mapping[str, str]
    hidden: tuple[str, ...]
    variables: Mapping[str, bool]
    files: tuple[str, ...]
    arguments: tuple[str, ...]


def declared(options: argparse.Namespace) -> Declared:
    """The pipeline of a command's file.

    Raises:
        PipelineError: the file is wrong.
        Ended: `--set` has a secret, the name is a placeholder, or a placeholder names no variable.
    """
    require("spark", user="`magicbyte pipeline`", modules=("yaml", "pyspark"))
    from spark_avro.pipeline.file.nodes import Placeholders  # noqa: PLC0415 - after the check for YAML
    from spark_avro.pipeline.file.reading import chosen, included_files, merged_documents, pipelines_of  # noqa: PLC0415

    overrides = options.overrides
    refuse_secrets(overrides)
    documents = merged_documents(options.file, overrides=overrides, placeholders=Placeholders.KEEP)
    _refuse_unknown_names(documents)
    pipelines = pipelines_of(documents)
    pipeline = chosen(pipelines, options.file, options.name)
    document = documents[pipelines.index(pipeline)]
    variables: dict[str, bool] = {}
    files: dict[str, None] = {}
    for raw in _texts(document):
        for provider, reference in placeholders_in(raw):
            if provider == "env":
                name, default, _ = reference.partition(":-")
                variables[name] = variables.get(name, False) or not default
            else:
                files[reference.rpartition(":")[0] or reference] = None
    if unknown := [name for name in variables if not _VARIABLE.fullmatch(name)]:
        raise Ended(BAD_USAGE, f"{options.file}: ${{env:{unknown[0]}}}: {unknown[0]!r} is no name of a variable")
    properties = _properties(document)
    public = {name for name, value in properties.items() if not (is_secret(name) or "${" in value or has_secret(value))}
    arguments = [word for override in overrides for word in ("--set", override)]
    arguments += ["--name", options.name] if options.name else []
    return Declared(
        Path(os.path.abspath(options.file)),  # noqa: PTH100 - a link stays a link, so that its target may change
        pipeline,
        included_files(options.file, Placeholders.KEEP),
        _runs_on(document),
        {name: pipeline.spark[name] for name in properties if name in public},
        tuple(name for name in properties if name not in public),
        dict(sorted(variables.items())),
        tuple(files),
        tuple(arguments),
    )


def unhealthy_after(options: argparse.Namespace) -> list[str]:
    """The words that pass `--unhealthy-after` on.

    Raises:
        ConfigError: it is no time.
    """
    from spark_avro.pipeline.run.health import limit_kind  # noqa: PLC0415 - not for --help

    converted("--unhealthy-after", options.unhealthy_after, limit_kind(), "a time such as 30m")
    return ["--unhealthy-after", options.unhealthy_after] if options.unhealthy_after else []


def _refuse_unknown_names(documents: Sequence[MapNode]) -> None:
    for document in documents:
        entry = document.entries.get("name")
        if entry is not None and isinstance(entry.node, ScalarNode) and isinstance(entry.node.value, KeptText):
            raise Ended(BAD_USAGE, f"{entry.node.place}: name: must not be a placeholder: the output is named by it")


def _runs_on(document: MapNode) -> bool:
    """Whether the trigger has a time; the time may be a placeholder."""
    trigger = document.entries.get("trigger")
    return trigger is not None and isinstance(trigger.node, MapNode) and "every" in trigger.node.entries


def _properties(document: MapNode) -> dict[str, str]:
    """The texts of Spark's properties as the file has them."""
    entry = document.entries.get("spark")
    if entry is None or not isinstance(entry.node, MapNode):
        return {}
    nodes = {name: item.node for name, item in entry.node.entries.items()}
    return {name: str(node.raw) for name, node in nodes.items() if isinstance(node, ScalarNode)}


def _texts(node: Node) -> Iterator[str]:
    """The texts of all scalars, with their placeholders."""
    if isinstance(node, ScalarNode):
        yield str(node.raw)
    elif isinstance(node, ListNode):
        for item in node.items:
            yield from _texts(item)
    else:
        for entry in node.entries.values():
            yield from _texts(entry.node)
