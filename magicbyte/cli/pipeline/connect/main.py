"""`from-connect`: the pipeline file of a sink connector's configuration; the rest is listed on stderr."""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

from magicbyte.cli.pipeline.connect.config import ConnectConfig, short_class
from magicbyte.cli.pipeline.connect.targets import convert_target, refuse_source
from magicbyte.cli.pipeline.connect.transforms import Parts, convert_transforms
from magicbyte.cli.pipeline.outcome import PROGRAM
from magicbyte.kit.extras import require
from serdes.console.outcome import BAD_USAGE, Ended, tell

_CONVERTERS = {
    "AvroConverter": "avro",
    "JsonSchemaConverter": "json",
    "ProtobufConverter": "protobuf",
    "StringConverter": "string",
    "ByteArrayConverter": "bytes",
}
_DEAD = "errors.deadletterqueue."
#: Settings of Connect itself that are left out -> why.
_LEFT_OUT = {
    "tasks.max": "Spark's --master says how many tasks run",
    "key.converter.schemas.enable": "has no effect on this converter",
    "value.converter.schemas.enable": "has no effect on this converter",
    f"{_DEAD}context.headers.enable": "letters always have the headers",
    "errors.log.enable": "errors are logged; errors.log says how many of a batch",
    "errors.log.include.messages": "errors are logged with place and reason, never with the record",
    "errors.retry.delay.max.ms": "set errors.retry.max-delay",
    f"{_DEAD}topic.replication.factor": "the topic has the replication of the source",
}


def convert(options: argparse.Namespace) -> int:
    """Write the pipeline file of a connector's configuration."""
    require("spark", user="`magicbyte pipeline`", modules=("yaml",))
    try:
        document = json.loads(Path(options.config).read_text(encoding="utf-8"))
    except OSError as error:
        raise Ended(BAD_USAGE, f"{options.config} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise Ended(BAD_USAGE, f"{options.config} is no JSON: {error}") from None
    if not isinstance(document, dict):
        raise Ended(BAD_USAGE, f"{options.config} is no connector's configuration")
    text, notes = pipeline_text(document, options.config)
    sys.stdout.write(text)
    for name, why in notes:
        tell(PROGRAM, f"{name}: {why}")
    return 0


def pipeline_text(document: dict[str, Any], file: str = "the file") -> tuple[str, list[tuple[str, str]]]:
    """The pipeline file of a configuration, and the settings without a counterpart: the name, and why.

    Args:
        document: The connector, as Connect's REST API shows it, or only the map of its settings.
        file: The file's name, for errors.

    Raises:
        Ended: it is no configuration of a sink.
    """
    import yaml  # noqa: PLC0415 - in an extra

    settings = document.get("config", document)
    if not isinstance(settings, dict):
        raise Ended(BAD_USAGE, f"{file}: config is no map of settings")
    config = ConnectConfig.of(settings)
    refuse_source(config, file, str(document.get("type", "")))
    parts = _pipeline(config, str(document.get("name") or config.take("name") or "connector"))
    config.take("name")
    for name, why in _LEFT_OUT.items():
        if name in config.rest():
            config.note(name, why)
    for name in config.rest():
        config.note(name, "has no counterpart")
    header = "".join(f"# no counterpart: {name}: {why}\n" for name, why in config.notes)
    return header + yaml.safe_dump(parts, sort_keys=False, width=110), config.notes


def _pipeline(config: ConnectConfig, name: str) -> Parts:
    topics = config.take_list("topics")
    pattern = config.take("topics.regex")
    slug = re.sub(r"[^a-z0-9-]+", "-", name.lower()).strip("-")[:60] or "connector"
    source: dict[str, Any] = {"topics": topics} if topics or not pattern else {"pattern": pattern}
    if len(topics) != 1:
        config.note("topics" if topics else "topics.regex", "several topics: set value.subject, or split the pipeline")
    source["value"] = _format(config, "value", topics)
    key = _format(config, "key", topics)
    if key["format"] != "bytes":
        source["key"] = key
    elif config.settings.get("key.converter"):
        config.note("key.converter", "keys stay bytes, in _kafka.key; give source.key to decode them")
    parts: Parts = {
        "version": 1,
        "name": slug,
        "kafka": {"bootstrap.servers": "${env:BROKERS:-localhost:9092}"},
        **_registry(config),
        "checkpoint": f"/data/_checkpoints/{slug}",
        "trigger": {"every": "30s"},
        "source": source,
    }
    convert_transforms(config, parts)
    topic = parts.pop("topic", None)
    parts["sink"] = convert_target(config, topics)
    if topic is not None:
        config.notes.append(("transforms", f"a router renames topics; a folder or table has one name here: {topic}"))
    return parts | _errors(config, slug)


def _format(config: ConnectConfig, side: str, topics: list[str]) -> dict[str, Any]:
    kind = short_class(config.take(f"{side}.converter"))
    if kind == "JsonConverter":
        config.note(f"{side}.converter", "JSON without a schema id: name its columns in `type`")
        config.take(f"{side}.converter.schemas.enable")
        return {"format": "json-plain", "type": "id long"}
    if kind and kind not in _CONVERTERS and side == "value":
        config.note("value.converter", f"the converter {kind} has no counterpart; auto reads records with schema ids")
    form: dict[str, Any] = {"format": _CONVERTERS.get(kind, "auto" if side == "value" else "bytes")}
    if len(topics) != 1 and side == "value" and form["format"] in ("auto", "avro", "json", "protobuf"):
        form["subject"] = f"{topics[0] if topics else 'TOPIC'}-value"
    return form


def _registry(config: ConnectConfig) -> Parts:
    urls = [config.take(f"{side}.converter.schema.registry.url") for side in ("value", "key")]
    url = next((address for address in urls if address), None)
    if urls[1] not in (None, url):
        config.note("key.converter.schema.registry.url", "a pipeline has one registry, and takes that of the values")
    for side in ("value", "key"):
        for name in [name for name in config.settings if name.startswith(f"{side}.converter.basic.auth")]:
            config.note(name, "credentials are not written; set registry.properties, such as basic.auth.user.info")
        for name in (
            "enhanced.avro.schema.support",
            "connect.meta.data",
            "use.latest.version",
            "auto.register.schemas",
        ):
            config.note(f"{side}.converter.{name}", "has no effect on a reader")
    return {"registry": {"url": url or "${env:REGISTRY:-http://localhost:8081}"}}


def _errors(config: ConnectConfig, slug: str) -> Parts:
    errors: dict[str, Any] = {}
    tolerance = config.take("errors.tolerance", "none")
    topic = config.take(f"{_DEAD}topic.name")
    if tolerance == "all":
        errors = {"tolerance": "all", "topic": topic or f"{slug}-dead"}
        if topic is None:
            config.note("errors.tolerance", f"all without a topic skips records; here they go to {slug}-dead")
    elif topic:
        config.note(f"{_DEAD}topic.name", "has no effect without errors.tolerance=all")
    timeout = config.take("errors.retry.timeout")
    if timeout and timeout.isdecimal() and int(timeout) > 0:
        errors["retry"] = {"for": f"{max(1, int(timeout) // 1000)}s"}
    elif timeout:
        config.note("errors.retry.timeout", f"{timeout} has no counterpart; see errors.retry.for, 1m by default")
    return {"errors": errors} if errors else {}
