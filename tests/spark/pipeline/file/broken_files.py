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
_MASKS = "sha256, hmac:KEY, keep-last-N, zero, fixed:TEXT or /REGEX/REPLACEMENT"

_PORT = "has no valid port; write a number from 1 to 65535"
_SCHEME = "has no scheme; write http:// or https:// before the host"
_DATABASES = "is not PostgreSQL or SQLite"
_FILES = "files: {path: /tmp/flights, time: at, partition: [dt, hour], late: 7d}"
_AUDIT = "there is no audit in this release, so true would do nothing; leave it out"
_TABLES = "tables: {airports: {files: {path: /p}}}\nstreams: {pays: {topics: p}}"

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
        '{bootstrap.servers: "broker:9092"}',
        "§{boostrap.servers: broker:9092}",
        "kafka: bootstrap.servers is missing; is boostrap.servers misspelt?",
    ),
    ("broker:9092", "§broker", "kafka.bootstrap.servers: 'broker' has no port; write HOST:PORT"),
    ("broker:9092", "a:1, §b:kafka", f"kafka.bootstrap.servers: 'b:kafka' {_PORT}"),
    ("http://registry:8081", "§registry:8081", f"registry.url: 'registry:8081' {_SCHEME}"),
    (
        "http://registry:8081",
        "http://a:1,§htps://b:2",
        "registry.url: 'htps://b:2' has an unknown scheme; use http:// or https://; did you mean https?",
    ),
    ("http://registry:8081", "§http://:8081", "registry.url: 'http://:8081' has no host; write http://HOST:PORT"),
    ("http://registry:8081", "§http://r:80810", f"registry.url: 'http://r:80810' {_PORT}"),
    (
        _FILES,
        "sql: {url: §'postgres://h/d', table: t}",
        f"sink.sql.url: postgres {_DATABASES}; did you mean postgresql?",
    ),
    (
        _FILES,
        "sql: {url: §'mysql://h/d', table: t}",
        f"sink.sql.url: mysql {_DATABASES}; sink.jdbc writes it at least once",
    ),
    (_FILES, "sql: {url: '§postgresql://u:p/w@h:no/d', table: t}", f"sink.sql.url: this URL {_PORT}"),
    (
        _FILES,
        "sql: {url: §'sqlite://f.db', table: t}",
        "sink.sql.url: 'sqlite://f.db' has two slashes, so f.db is a host; write sqlite:///FILE, or sqlite:////FOLDER/FILE",
    ),
    (
        _FILES,
        "jdbc: {url: 'jdbc:mysql://§h:no/d', table: t}",
        f"sink.jdbc.url: 'jdbc:mysql://h:no/d' {_PORT}",
    ),
    (
        _FILES,
        "jdbc: {url: 'jdbc:§postgres://h/d', table: t}",
        "sink.jdbc.url: postgres is no JDBC driver; did you mean postgresql?",
    ),
    (
        _FILES,
        "kafka: {topic: t, §value.shema: derive}",
        "sink.kafka.value.shema: no such setting; did you mean value: {schema: ..}?",
    ),
    (
        "  value: {format: auto}",
        "  §value.shema: x",
        "source.value.shema: no such setting; write value: {NAME: ..} with one of format, subject, fields, message,"
        " validate, rules, type",
    ),
    (_FILES, "§parquet: {path: /p}", "sink.parquet: no such setting; did you mean files?"),
    ("where: delay is", "§filter: delay is", "steps[0].filter: no such setting; did you mean where?"),
    ("where: delay is", "§with_column: delay is", "steps[0].with_column: no such setting; did you mean select?"),
    (
        "steps:\n  - where: delay is not null",
        _TABLES + "\nsteps:\n  - join: {table: §airprts, on: [k]}",
        "steps[0].join.table: there is no table airprts; did you mean airports?",
    ),
    (
        "steps:\n  - where: delay is not null",
        _TABLES + "\nsteps:\n  - join: {table: §pays, on: [k]}",
        "steps[0].join.table: pays is a name in streams, not in tables",
    ),
    (
        "steps:\n  - where: delay is not null",
        _TABLES + "\nsteps:\n  - join: {stream: §pay, on: [k], within: 5m}",
        "steps[0].join.stream: there is no stream pay; did you mean pays?",
    ),
    ("evolve: {new-version", "audit: §true\nevolve: {new-version", f"audit: {_AUDIT}"),
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
