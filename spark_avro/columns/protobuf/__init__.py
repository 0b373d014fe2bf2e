"""Protobuf messages decoded in columns: all messages of a batch, field by field, with array operations, to Arrow."""

from __future__ import annotations

from spark_avro.columns.protobuf.message import behind_indexes, message_reader

__all__ = ["behind_indexes", "message_reader"]
