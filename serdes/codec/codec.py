"""A codec: the functions that encode and decode data of one schema, each compiled on first use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from typing import Any, Literal, NamedTuple

from compat.json.json_text import loads
from serdes.codec.decode import walk as decode_walk
from serdes.codec.encode import walk as encode_walk
from serdes.codec.errors import DecodeError, EncodeError, SchemaError
from serdes.codec.forms.form import Form, data_form, json_form, record_form
from serdes.codec.forms.records import Records
from serdes.codec.resolve.plan import Plan, resolve
from serdes.codec.schema import Node, parse
from serdes.records.table import classes_of

Buffer = bytes | bytearray | memoryview
#: Whether values of unions are decoded to pairs of the branch's name and the value; see `compile_codec`.
RecordNames = bool | Literal["branches"]

#: The number of codecs that are cached; the least recently used one is dropped first.
CACHED_CODECS = 1000


class CodecInput(NamedTuple):
    """The input of a codec: the arguments of compile_codec."""

    writer: str
    reader: str | None
    named: tuple[str, ...]
    reader_named: tuple[str, ...]
    plain_unions: bool
    json_defaults: bool
    strict: bool = False
    strict_allow_default: bool = False
    record_names: RecordNames = False
    record: type | None = None


class AvroCodec:
    """Encoders and decoders of one writer's schema and, optionally, one reader's schema; see compile_codec.

    The functions are attributes, so that a call has no extra method around it:
        encode(datum, prefix=b"") -> bytes that begin with the prefix. Raises EncodeError.
        decode(buffer, offset=0) -> datum, which must end at the buffer's end. Raises DecodeError.
        json_to_avro(value, prefix=b"") -> bytes, from parsed Avro JSON. Raises EncodeError.
        avro_to_json(buffer, offset=0) -> Avro JSON as Python objects. Raises DecodeError.
        avro_to_json_bytes(buffer, offset=0) -> the compact Avro JSON text in UTF-8. Raises DecodeError.
    """

    def __init__(self, source: CodecInput) -> None:
        self.source = source
        self.schema = parse(source.writer, source.named)
        reader = None if source.reader is None else parse(source.reader, source.reader_named)
        if (
            source.reader
            and source.named == source.reader_named
            and loads(source.reader, comments=True) == loads(source.writer, comments=True)
        ):
            # As fastavro: equal schemas are not resolved, so each branch of a union is read as itself.
            reader = None
        self._json = json_form(plain=source.plain_unions, defaults=source.json_defaults)
        self._data = data_form(
            strict=source.strict,
            strict_allow_default=source.strict_allow_default,
            record_names=source.record_names is True,
        )
        if source.record_names == "branches":
            self._data = self._data._replace(branch_names=True)
        if source.record is not None:
            self._data = record_form(self._data, Records(classes_of(source.record), self.schema.name))
        try:
            #: How a datum is read; decoders of all forms are compiled from it.
            self.plan = resolve(self.schema, reader)
        except RecursionError:
            raise SchemaError("the schema is nested too deeply") from None

    @property
    def is_raw(self) -> bool:
        """Whether a message's payload is the value itself: for a schema of bytes, the wire format has no length."""
        return self.schema.kind == "bytes" and self.schema.logical is None

    @cached_property
    def encode(self) -> Callable[..., bytes]:
        """The function that encodes a Python datum."""
        return encoder(self.schema, self._data)

    @cached_property
    def decode(self) -> Callable[..., Any]:
        """The function that decodes a buffer from an offset to a Python datum."""
        return decoder(self.plan, self._data)

    @cached_property
    def json_to_avro(self) -> Callable[..., bytes]:
        """The function that encodes parsed Avro JSON."""
        return encoder(self.schema, self._json)

    @cached_property
    def avro_to_json(self) -> Callable[..., Any]:
        """The function that decodes a buffer from an offset to Avro JSON as Python objects."""
        return decoder(self.plan, self._json)

    @cached_property
    def avro_to_json_bytes(self) -> Callable[..., bytes]:
        """The function that decodes a buffer from an offset to the compact Avro JSON text, in UTF-8."""
        return text_decoder(self.avro_to_json, self.schema)

    @property
    def encode_payload(self) -> Callable[..., bytes]:
        """As `encode`, for the payload of a message; see `is_raw`."""
        return _raw_bytes if self.is_raw else self.encode

    @property
    def payload_to_json_bytes(self) -> Callable[..., bytes]:
        """As `avro_to_json_bytes`, for the payload of a message; see `is_raw`."""
        return _raw_to_json_bytes if self.is_raw else self.avro_to_json_bytes


def _raw_bytes(datum: Any) -> bytes:
    if not isinstance(datum, bytes | bytearray | memoryview):
        raise EncodeError("$", type(datum).__name__, "bytes")
    return bytes(datum)


def _raw_to_json_bytes(buffer: Buffer, offset: int = 0) -> bytes:
    import orjson  # noqa: PLC0415  (as above)

    return orjson.dumps(bytes(buffer[offset:]).decode("iso-8859-1"))


def text_decoder(decode: Callable[..., Any], schema: Node, most_bytes: int | None = None) -> Callable[..., bytes]:
    """The function from a buffer and an offset to the JSON text in UTF-8 of the value that `decode` returns.

    It raises DecodeError, or ValueTooLarge if the text would have more than `most_bytes` bytes.
    """
    import orjson  # noqa: PLC0415  (its import takes longer than that of the codecs)

    from serdes.json_bytes import require_size  # noqa: PLC0415  (as above)

    dumps, words = orjson.dumps, schema.words()

    def show(buffer: Buffer, offset: int = 0) -> bytes:
        value = decode(buffer, offset)
        if most_bytes is not None:
            require_size(value, most_bytes)
        try:
            return dumps(value)
        except orjson.JSONEncodeError as error:
            raise DecodeError("$", offset, words, f"no JSON: {error}") from None

    return show


#: Errors of Python's compiler for a schema beyond its limits; data is then encoded and decoded step by step.
_TOO_MUCH = (SyntaxError, RecursionError, MemoryError)


def encoder(node: Node, form: Form) -> Callable[..., bytes]:
    """The function that encodes a datum in a form."""
    from serdes.codec.encode import source as encode_source  # noqa: PLC0415  (consumers do not need it)

    try:
        return encode_source.encoder(node, form)
    except _TOO_MUCH:
        return lambda datum, prefix=b"": prefix + encode_walk.encode(node, datum, form)


def decoder(plan: Plan, form: Form) -> Callable[..., Any]:
    """The function that decodes the datum at an offset of a buffer, by a plan and in a form."""
    from serdes.codec.decode import source as decode_source  # noqa: PLC0415  (producers do not need it)

    try:
        return decode_source.decoder(plan, form)
    except _TOO_MUCH:
        return lambda buffer, offset=0: decode_walk.decode(plan, bytes(buffer), offset, form)


def compile_codec(
    writer: str,
    reader: str | None = None,
    named: Sequence[str] = (),
    *,
    reader_named: Sequence[str] | None = None,
    plain_unions: bool = False,
    json_defaults: bool = False,
    strict: bool = False,
    strict_allow_default: bool = False,
    record_names: RecordNames = False,
    record: type | None = None,
) -> AvroCodec:
    """The codec of a schema; it is cached by its arguments.

    Args:
        writer: The JSON text of the schema that the data is encoded with.
        reader: The text of the schema that decoders resolve the data to, if it is another one.
        named: The texts of the schemas that the writer refers to by name, in dependency order.
        reader_named: As `named`, for the reader; by default the writer's.
        plain_unions: Avro JSON has the values of unions without tags, in both directions.
        json_defaults: A field that Avro JSON lacks gets its default; else it is an error, as in Java's Avro.
        strict: `encode` refuses records with unknown or missing fields.
        strict_allow_default: As `strict`, but a field with a default may be missing.
        record_names: `decode` returns a record of a union as a pair of its full name and the record, as fastavro
            does with `return_record_name`; with `branches`, any value of a union of several.
        record: A class of `magicbyte generate`: `encode` takes and `decode` returns its instances instead of dicts.

    Raises:
        SchemaError: A text is not a schema.
    """
    of_writer = tuple(named)
    of_reader = of_writer if reader_named is None else tuple(reader_named)
    if reader == writer and of_reader == of_writer:
        reader = None
    source = CodecInput(
        writer,
        reader,
        of_writer,
        of_reader,
        plain_unions=plain_unions,
        json_defaults=json_defaults,
        strict=strict,
        strict_allow_default=strict_allow_default,
        record_names=record_names,
        record=record,
    )
    return _compile(source)


@lru_cache(maxsize=CACHED_CODECS)
def _compile(source: CodecInput) -> AvroCodec:
    return AvroCodec(source)
