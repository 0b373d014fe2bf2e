"""Names that other programs have for the steps and sinks of a pipeline file, so that an error names ours."""

from __future__ import annotations

from collections.abc import Mapping

#: Names that SQL, Spark and other programs have for the steps.
STEP_SYNONYMS: Mapping[str, str] = {
    **dict.fromkeys(("filter", "having"), "where"),
    **dict.fromkeys(("project", "columns", "derive", "withcolumn", "withcolumns", "map", "compute"), "select"),
    **dict.fromkeys(("groupby", "group"), "aggregate"),
    **dict.fromkeys(("distinct", "unique", "dropduplicates"), "deduplicate"),
    **dict.fromkeys(("lookup", "enrich"), "join"),
    **dict.fromkeys(("hash", "redact", "anonymize"), "mask"),
    **dict.fromkeys(("udf", "transform", "function"), "python"),
    "query": "sql",
    "remove": "drop",
    "limit": "sample",
}

#: Names of formats, stores and databases that a sink writes.
SINK_SYNONYMS: Mapping[str, str] = {
    **dict.fromkeys(("parquet", "avro", "json", "s3", "gcs", "hdfs"), "files"),
    **dict.fromkeys(("postgresql", "postgres", "sqlite"), "sql"),
    "topic": "kafka",
}
