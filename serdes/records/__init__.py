"""The runtime of generated records: what their modules import, and how codecs find classes and fields.

`magicbyte generate` writes modules of dataclasses that import only this package. A class of theirs stands for its
schema: `AvroSerializer(client, Employee)` and `AvroDeserializer(client, Employee)` write and return its instances.
"""

from __future__ import annotations

from serdes.records.table import Table
from serdes.records.values import UNSET, Branch, Duration, Fixed, Symbols, Unset

__all__ = ["UNSET", "Branch", "Duration", "Fixed", "Symbols", "Table", "Unset"]
