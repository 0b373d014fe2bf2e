"""A good file, and what is planted in it: `§` stands before the position that the finding has to name."""

from __future__ import annotations

GOOD = """\
version: 1
name: flights
kafka: {bootstrap.servers: "broker:9092"}
registry: {url: "http://registry:8081"}
checkpoint: /tmp/checkpoint
trigger: {every: 30s}
source:
  topics: [flights]
  value: {format: auto}
  limit: {records: 500000}
steps:
  - where: delay is not null
  - select: [id, "delay * 60 as seconds"]
  - mask: {name: sha256}
  - sql: |
      select *, delay > 15 as late
      from this
quality:
  - {name: in range, expect: delay < 3000, else: dead-letter}
sink:
  files: {path: /tmp/flights, time: at, partition: [dt, hour], late: 7d}
evolve: {new-version: refresh}
errors: {tolerance: all, topic: flights-dead, at-most: 0.01}
"""

_DURATION = "must be a duration such as 30s, 10m, 2h or 7d, not"
_RECORDS = "source.limit.records: must be a whole number of at least 1, not"
_SQL = '"delay * 60 as seconds"'
_FORMATS = "auto or avro or json or protobuf or json-plain or string or bytes"
_SEVERAL = "several topics need value.subject, records, source.union, or one pipeline for each topic"
_CHECKS = "expect, not-null, unique, in, range, fresh, volume, schema-only"
_MASKS = "sha256, hmac:KEY, keep-last-N or /REGEX/REPLACEMENT"

#: A part of the good file, what stands in its place, and the finding.
BROKEN = [
    ("partition: [dt", "§partitions: [dt", "sink.files.partitions: no such setting; did you mean partition?"),
    ("name: flights", "§nmae: flights", "nmae: no such setting; did you mean name?"),
    (
        "name: flights",
        "name: §Flights!",
        "name: must be a name of 1 to 60 letters a-z, digits and `-`, not 'Flights!'",
    ),
    ("version: 1", "version: §2", "version: must be 1, not 2"),
    ("every: 30s", "every: §30", f"trigger.every: {_DURATION} '30'"),
    ("every: 30s", "every: §30 sec", f"trigger.every: {_DURATION} '30 sec'"),
    (
        "every: 30s",
        "once: §true",
        "trigger.once: is deprecated in Spark; use {available: now}, which respects source.limit",
    ),
    ("{every: 30s}", "§{}", "trigger: must have every or available"),
    ("{every: 30s}", "§[30s]", "trigger: must be a mapping, not a list"),
    ("topics: [flights]", "§topic: [flights]", "source.topic: no such setting; did you mean topics?"),
    ("topics: [flights]", "topics: §[]", "source.topics: must have at least 1 entries"),
    ("topics: [flights]", "topics: [§a b]", "source.topics[0]: must be a topic, not 'a b'"),
    (
        "format: auto",
        "format: §arvo",
        f"source.value.format: must be {_FORMATS}, not 'arvo'; did you mean avro?",
    ),
    ("version: 1", 'version: §"2"', "version: must be 1, not '2'"),
    (
        "{format: auto",
        "§{format: json-plain",
        "source.value: type is missing: json-plain has no schema, so write its columns, such as `id long, name string`",
    ),
    ("format: auto", "format: auto, type: §id int", "source.value.type: is for json-plain; the format is auto"),
    ("records: 500000", "records: §many", f"{_RECORDS} 'many'"),
    ("records: 500000", "records: §0", f"{_RECORDS} '0'"),
    ("where: delay is", "§wher: delay is", "steps[0].wher: no such setting; did you mean where?"),
    ("delay is not null", "§(delay is not null", "steps[0].where: the ( is not closed"),
    ("delay is not null", "delay is not null§)", "steps[0].where: the ) has no ( before it"),
    ("delay is not null", "name = §'x", "steps[0].where: the text that begins with ' does not end"),
    (_SQL, '"delay§; drop"', "steps[1].select[1]: has a semicolon; give one expression or query"),
    (_SQL, '"§"', "steps[1].select[1]: must not be empty"),
    (_SQL, "§{a: b}", "steps[1].select[1]: must be a column or an SQL expression with `as name`, not a mapping"),
    ("name: sha256", "name: §md5", f"steps[2].mask.name: must be {_MASKS}, not 'md5'"),
    ("mask: {name:", "mask: {§a..b:", "steps[2].mask: 'a..b' is no path of a field; write a.b, or `odd name`.b"),
    ("delay > 15 as", "§(delay > 15 as", "steps[3].sql: the ( is not closed"),
    ("from this", "from §`this", "steps[3].sql: the name that begins with ` does not end"),
    (
        "else: dead-letter",
        "else: §deadletter",
        "quality[0].else: must be warn or drop or dead-letter or fail, not 'deadletter'; did you mean dead-letter?",
    ),
    ("{name: in range, expect: delay < 3000, ", "§{name: in range, ", f"quality[0]: must have one of {_CHECKS}"),
    (
        "sink:\n  files: {path: /tmp/flights, time: at, partition: [dt, hour], late: 7d}",
        "sinks: §[{sql: {url: 'sqlite:///x', table: t}}, {delta: {path: /t}}, {sql: {url: 'sqlite:///x', table: t}}]",
        "sinks: two sinks write to table t: the second would find the first one's marker",
    ),
    ("files: {path", "§file: {path", "sink.file: no such setting; did you mean files?"),
    (
        "files: {path: /tmp/flights, time: at, partition: [dt, hour], late: 7d}",
        "sql: {url: 'sqlite:///f.db', table: t, via: §executors}",
        "sink.sql.via: executors need PostgreSQL: SQLite has one writer; use driver",
    ),
    (
        "  value: {format: auto}",
        "  value: {format: auto}\n  records: §{}",
        "source.records: stands beside value; give one of them",
    ),
    ("topics: [flights]", "topics: §[flights, trains]", f"source.topics: {_SEVERAL}"),
    (
        "topics: [flights]",
        "topics: §[flights]\n  union: [{topics: [trains]}]",
        "source.topics: stands beside union, whose parts have their own",
    ),
    (
        "  topics: [flights]\n  value: {format: auto}",
        "  union: [{topics: [a]}]\n  key: §{format: string}",
        "source.key: stands beside union, whose parts have their own",
    ),
    ("topics: [flights]\n  value: {format: auto}", "union: §[]", "source.union: must have at least 1 entries"),
    (
        "topics: [flights]\n  value: {format: auto}",
        "union: [{§topic: [a]}]",
        "source.union[0].topic: no such setting; did you mean topics?",
    ),
    (
        "topics: [flights]\n  value: {format: auto}",
        "union: [{topics: §[a, b]}]",
        f"source.union[0].topics: {_SEVERAL}",
    ),
    (
        "topics: [flights]\n  value: {format: auto}",
        "union: [{topics: [a, b], value: {subject: s}}, {topics: §[b]}]",
        "source.union[1].topics: b is a topic of source.union[0] (line 8), too; a topic is in one part only",
    ),
    (
        "evolve: {new-version: refresh}",
        "streams: {payments: {topics: §flights}}",
        "streams.payments.topics: flights is a topic of source (line 8), too; a topic is in one part only",
    ),
    (
        "evolve: {new-version: refresh}",
        "streams: {§9: {topics: payments}}",
        "streams: must be a name of letters, digits and `_`, not '9'",
    ),
    (
        "evolve: {new-version: refresh}",
        "streams: §{this: {topics: payments}}",
        "streams: this is the name of the pipeline's own rows; give the stream another one",
    ),
    (
        "evolve: {new-version: refresh}",
        "tables: {payments: {files: {path: /p}}}\nstreams: §{payments: {topics: payments}}",
        "streams: payments is the name of a table, too; give one of them another one",
    ),
    (
        "source:\n  topics: [flights]\n  value: {format: auto}",
        "streams: §{payments: {topics: payments}}\nsource:\n  pattern: f.*\n  value: {subject: s}",
        "streams: stands beside source.pattern, which may match their topics; name the source's topics",
    ),
    (
        "source:\n  topics: [flights]\n  value: {format: auto}\n  limit: {records: 500000}",
        "source: {files: {path: /in}}\nstreams: §{payments: {topics: payments}}",
        "streams: needs a source of Kafka: Spark reads the topics of both as one stream",
    ),
    (
        "evolve: {new-version: refresh}",
        "streams: {payments: {topics: payments}}\nevolve: §{new-version: {pin: 1}}",
        "evolve: new-version: {pin: N} is a version of one subject, and streams reads several",
    ),
    (
        "errors: {tolerance: all, topic: flights-dead",
        "streams: {payments: {topics: payments}}\nerrors: §{tolerance: all, topic: payments",
        "errors: the topic of dead letters, payments, is a source of the pipeline",
    ),
    ("late: 7d", "late: 7d, §late: 8d", "late: stands here twice, first in line 21"),
    (
        "new-version: refresh",
        "new-version: {pin: §x}",
        "evolve.new-version.pin: must be a whole number of at least 1, not 'x'",
    ),
    ("at-most: 0.01", "at-most: §2", "errors.at-most: must be a ratio from 0 to 1, not '2'"),
    (
        "errors: {tolerance: all, topic: flights-dead",
        "errors: §{tolerance: all, topic: flights",
        "errors: the topic of dead letters, flights, is a source of the pipeline",
    ),
    (
        "tolerance: all, topic: flights-dead",
        "tolerance: §all",
        "errors.tolerance: all needs errors.topic, the topic of dead letters",
    ),
    ('{bootstrap.servers: "broker:9092"}', "§{}", "kafka: bootstrap.servers is missing"),
    (
        "checkpoint: /tmp/checkpoint",
        "§cehckpoint: /tmp/checkpoint",
        "cehckpoint: no such setting; did you mean checkpoint?",
    ),
    ("steps:\n  - where", "steps: [\n  §- where", "this is no YAML: did not find expected node content"),
    (
        '"http://registry:8081"',
        '§"${env:NO_SUCH_VARIABLE}"',
        "${env:NO_SUCH_VARIABLE} cannot be resolved: the variable is not set",
    ),
]


def planted(old: str, new: str) -> tuple[str, int, int]:
    """The broken file, and the line and column of what was planted."""
    assert GOOD.count(old) >= 1, old
    marked = GOOD.replace(old, new, 1)
    before = marked[: marked.index("§")]
    return marked.replace("§", ""), before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
