"""Avro decoded in columns: all messages of a batch field by field, by operations on arrays, to Arrow.

What is broken, and schemas that are not read in this way, go to the decoder of single messages (`serdes.codec`), whose
values and reasons these are; so nothing is said of a message here but that it is sound.
"""

from __future__ import annotations

from spark_avro.columns.batch import Outcome, decode_batch
from spark_avro.columns.part import Read
from spark_avro.columns.plan import column_reader

__all__ = ["Outcome", "Read", "column_reader", "decode_batch"]
