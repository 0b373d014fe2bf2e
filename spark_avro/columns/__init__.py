"""Messages decoded in columns: all messages of a batch, field by field, with array operations, to Arrow.

Broken messages, and schemas that are not read in columns, go to the decoder of single messages (`serdes.codec`), which
gives the value or the reason. So this package only finds out which messages are sound.
"""

from __future__ import annotations

from spark_avro.columns.batch import Outcome, decode_batch
from spark_avro.columns.part import Read
from spark_avro.columns.plan import column_reader

__all__ = ["Outcome", "Read", "column_reader", "decode_batch"]
