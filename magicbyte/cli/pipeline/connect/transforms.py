"""Single message transforms as steps."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from magicbyte.cli.pipeline.connect.config import ConnectConfig, short_class

#: The parts of a pipeline that a transform adds to: its steps, and the topic's expression of a Kafka sink.
Parts = dict[str, Any]

_CASTS = {
    "int8": "tinyint",
    "int16": "smallint",
    "int32": "int",
    "int64": "bigint",
    "float32": "float",
    "float64": "double",
    "boolean": "boolean",
    "string": "string",
}
#: Units of Unix times -> their names in Spark's functions.
_UNITS = {"seconds": "seconds", "milliseconds": "millis", "microseconds": "micros"}


def convert_transforms(config: ConnectConfig, parts: Parts) -> None:
    """Add the steps of the transforms, in their order."""
    predicates = {name: _predicate(config, name) for name in config.take_list("predicates")}
    used: set[str] = set()
    for name in config.take_list("transforms"):
        prefix = f"transforms.{name}."
        kind = short_class(config.take(f"{prefix}type"))
        predicate = config.settings.get(f"{prefix}predicate", "")
        condition = _condition(config, prefix, predicates)
        used.add(predicate)
        why = _obstacle(config, prefix, kind, predicate, condition)
        if why:
            config.note(f"{prefix}type", why)
            for setting in config.settings:
                if setting.startswith(prefix) and setting != f"{prefix}type":
                    config.note(setting, f"belongs to the transform {name}, which is not converted")
        else:
            _TRANSFORMS[kind](config, prefix, parts, condition)
    for name in predicates.keys() - used:
        config.note(f"predicates.{name}.type", "no transform has this predicate")


def _obstacle(config: ConnectConfig, prefix: str, kind: str, predicate: str, condition: str | None) -> str:
    """The reason why a transform is not converted; empty if it is converted."""
    if kind not in _TRANSFORMS:
        return f"the transform {kind} has no counterpart; write it as `select` or `python`"
    if (config.settings.get(f"{prefix}type") or "").endswith("$Key") and kind != "ValueToKey":
        return f"{kind} of the key: steps work on the value's columns; use the step `key`"
    if predicate and condition is None:
        return f"{kind} under the predicate {predicate}, which has no counterpart; write it as `where` or in `select`"
    if condition is not None and kind != "Filter":
        return f"{kind} under a condition has no counterpart; write it as `if({condition}, ..)` in `select`"
    return ""


def _steps(parts: Parts) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = parts.setdefault("steps", [])
    return steps


def _predicate(config: ConnectConfig, name: str) -> str | None:
    """A predicate as SQL."""
    prefix = f"predicates.{name}."
    kind = short_class(config.take(f"{prefix}type"))
    if kind == "TopicNameMatches":
        return f"_kafka.topic rlike '^({_quoted(config.take(f'{prefix}pattern', '') or '')})$'"
    if kind == "HasHeaderKey":
        return f"exists(_kafka.headers, header -> header.key = '{_quoted(config.take(f'{prefix}name', '') or '')}')"
    config.note(f"{prefix}type", f"the predicate {kind} has no counterpart")
    return None


def _condition(config: ConnectConfig, prefix: str, predicates: Mapping[str, str | None]) -> str | None:
    name = config.take(f"{prefix}predicate")
    negated = config.take(f"{prefix}negate", "false") == "true"
    condition = predicates.get(name or "")
    return None if condition is None else (f"not ({condition})" if negated else condition)


def _replace_field(config: ConnectConfig, prefix: str, parts: Parts, _condition: str | None) -> None:
    kept = config.take_list(f"{prefix}include") or config.take_list(f"{prefix}whitelist")
    dropped = config.take_list(f"{prefix}exclude") or config.take_list(f"{prefix}blacklist")
    pairs = config.take_list(f"{prefix}renames")
    renamed = dict(pair.split(":", 1) for pair in pairs if ":" in pair)
    if len(renamed) < len(pairs):
        config.note(f"{prefix}renames", "has entries that are not OLD:NEW, or two for one field")
    if kept:
        _steps(parts).append({"select": kept})
    if dropped:
        _steps(parts).append({"drop": dropped})
    if renamed:
        _steps(parts).append({"rename": renamed})


def _mask_field(config: ConnectConfig, prefix: str, parts: Parts, _condition: str | None) -> None:
    replacement = config.take(f"{prefix}replacement")
    how = "zero" if replacement is None else f"fixed:{replacement}"
    _steps(parts).append({"mask": dict.fromkeys(config.take_list(f"{prefix}fields"), how)})


def _value_to_key(config: ConnectConfig, prefix: str, parts: Parts, _condition: str | None) -> None:
    _steps(parts).append({"key": config.take_list(f"{prefix}fields")})


def _extract_field(config: ConnectConfig, prefix: str, parts: Parts, _condition: str | None) -> None:
    _steps(parts).append({"select": [f"{config.take(f'{prefix}field')}.*"]})
    config.note(
        f"{prefix}type", "ExtractField of a struct is `field.*`; if the field is no struct, write `select: [field]`"
    )


def _regex_router(config: ConnectConfig, prefix: str, parts: Parts, _condition: str | None) -> None:
    pattern = _quoted(config.take(f"{prefix}regex", "") or "")
    replacement = _quoted(config.take(f"{prefix}replacement", "") or "")
    before = parts.get("topic", "_kafka.topic")
    parts["topic"] = f"regexp_replace({before}, '^({pattern})$', '{_shifted(replacement)}')"


def _timestamp_router(config: ConnectConfig, prefix: str, parts: Parts, _condition: str | None) -> None:
    form = _quoted(config.take(f"{prefix}timestamp.format", "yyyyMMdd") or "")
    shape = config.take(f"{prefix}topic.format", "${topic}-${timestamp}") or ""
    before = parts.get("topic", "_kafka.topic")
    date = f"', date_format(_kafka.timestamp, '{form}'), '"
    text = _quoted(shape).replace("${topic}", f"', {before}, '").replace("${timestamp}", date)
    parts["topic"] = f"concat('{text}')"


def _timestamp_converter(config: ConnectConfig, prefix: str, parts: Parts, _condition: str | None) -> None:
    name = config.take(f"{prefix}field")
    target = config.take(f"{prefix}target.type")
    unit = config.take(f"{prefix}unix.precision", "milliseconds") or "milliseconds"
    form = config.take(f"{prefix}format")
    expressions = {
        "Timestamp": f"to_timestamp({name}, '{form}')" if form else f"timestamp_{_UNITS.get(unit)}({name})",
        "Date": f"to_date({name}, '{form}')" if form else f"to_date(timestamp_{_UNITS.get(unit)}({name}))",
        "string": f"date_format({name}, '{form}')",
        "unix": f"unix_{_UNITS.get(unit)}({name})",
    }
    if not name or target not in expressions or unit not in _UNITS:
        config.note(f"{prefix}type", f"TimestampConverter to {target} has no counterpart; write it as `select`")
        return
    query = f"select * except ({name}), {expressions[target]} as {name} from this"  # noqa: S608 - a step of the user's
    _steps(parts).append({"sql": query})
    config.note(
        f"{prefix}target.type", f"the expression assumes that {name} is a number of {unit}, a text or a timestamp"
    )


def _cast(config: ConnectConfig, prefix: str, parts: Parts, _condition: str | None) -> None:
    types: dict[str, str] = {}
    for entry in config.take_list(f"{prefix}spec"):
        name, colon, kind = entry.partition(":")
        if colon and kind in _CASTS:
            types[name] = _CASTS[kind]
        else:
            config.note(f"{prefix}spec", f"Cast of {entry} has no counterpart")
    if types:
        _steps(parts).append({"cast": types})


def _flatten(config: ConnectConfig, prefix: str, parts: Parts, _condition: str | None) -> None:
    _steps(parts).append({"flatten": {"separator": config.take(f"{prefix}delimiter", ".")}})


def _insert_field(config: ConnectConfig, prefix: str, parts: Parts, _condition: str | None) -> None:
    sources = {"topic.field": "topic", "partition.field": "partition", "offset.field": "offset"}
    sources["timestamp.field"] = "timestamp"
    items = []
    for setting, source in sources.items():
        name = config.take(f"{prefix}{setting}")
        if name:
            items.append(f"_kafka.{source} as {name.rstrip('!?')}")
    constant = config.take(f"{prefix}static.field")
    if constant:
        items.append(f"'{_quoted(config.take(f'{prefix}static.value', '') or '')}' as {constant.rstrip('!?')}")
    if items:
        _steps(parts).append({"sql": f"select *, {', '.join(items)} from this"})  # noqa: S608 - as above


def _filter(config: ConnectConfig, prefix: str, parts: Parts, condition: str | None) -> None:
    if condition is None:
        config.note(f"{prefix}type", "Filter without a predicate drops everything")
        return
    inner = condition.removeprefix("not (").removesuffix(")") if condition.startswith("not (") else f"not ({condition})"
    _steps(parts).append({"where": inner})


def _hoist_field(config: ConnectConfig, prefix: str, parts: Parts, _condition: str | None) -> None:
    name = config.take(f"{prefix}field")
    query = f"select struct(* except (_kafka)) as {name}, _kafka from this"  # noqa: S608 - as above
    _steps(parts).append({"sql": query})


def _header_from(config: ConnectConfig, prefix: str, parts: Parts, _condition: str | None) -> None:
    fields, names = config.take_list(f"{prefix}fields"), config.take_list(f"{prefix}headers")
    if len(fields) != len(names):
        config.note(f"{prefix}headers", "has not as many names as there are fields; the others are left out")
    _steps(parts).append({"headers": dict(zip(names, fields, strict=False))})
    if config.take(f"{prefix}operation") == "move":
        _steps(parts).append({"drop": fields})


def _insert_header(config: ConnectConfig, prefix: str, parts: Parts, _condition: str | None) -> None:
    value = _quoted(config.take(f"{prefix}value.literal", "") or "")
    _steps(parts).append({"headers": {config.take(f"{prefix}header", "") or "": f"'{value}'"}})


def _unwrap(config: ConnectConfig, prefix: str, parts: Parts, _condition: str | None) -> None:
    for name in ("drop.tombstones", "delete.handling.mode", "delete.tombstone.handling.mode", "add.fields"):
        config.note(f"{prefix}{name}", "unwrap keeps deletions with `_op` d; leave them out with `where`")
    _steps(parts).append({"unwrap": "debezium"})


_Convert = Callable[[ConnectConfig, str, Parts, str | None], None]

#: Class of a transform -> the function that makes its steps.
_TRANSFORMS: Mapping[str, _Convert] = {
    "ReplaceField": _replace_field,
    "MaskField": _mask_field,
    "ValueToKey": _value_to_key,
    "ExtractField": _extract_field,
    "RegexRouter": _regex_router,
    "TimestampRouter": _timestamp_router,
    "TimestampConverter": _timestamp_converter,
    "Cast": _cast,
    "Flatten": _flatten,
    "InsertField": _insert_field,
    "Filter": _filter,
    "HoistField": _hoist_field,
    "HeaderFrom": _header_from,
    "InsertHeader": _insert_header,
    "ExtractNewRecordState": _unwrap,
}


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")


def _shifted(replacement: str) -> str:
    """Raise the group numbers by one, because the pattern gets a group around it."""
    return re.sub(r"\$(\d+)", lambda match: f"${int(match[1]) + 1}", replacement)
