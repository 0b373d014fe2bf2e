"""The text forms of values: JSON of the data of a schema, as the console tools and the REST proxy show and take it.

Avro is Avro JSON with tagged or plain unions, JSON Schema is JSON, Protobuf is proto3's JSON mapping. `serializing` and
`deserializing` give a schema type's part in the flows of `serdes.message.serializer` and `serdes.message.deserializer`.
"""

from __future__ import annotations

from serdes.text.form import TextOptions, Unfit, deserializing, serializing, text_form

__all__ = ["TextOptions", "Unfit", "deserializing", "serializing", "text_form"]
