"""Text forms: the JSON of a schema's data that the console tools and the REST proxy read and write.

For Avro it is Avro JSON with tagged or plain unions, for JSON Schema plain JSON, for Protobuf proto3's JSON mapping.
`serializing` and `deserializing` return the parts for `serdes.message.serializer` and `serdes.message.deserializer`.
"""

from __future__ import annotations

from serdes.text.form import Remarked, TextOptions, Unfit, deserializing, remarking, serializing, text_form

__all__ = ["Remarked", "TextOptions", "Unfit", "deserializing", "remarking", "serializing", "text_form"]
