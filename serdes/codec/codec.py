"""A codec: the functions that turn one schema's data into bytes and back, each made when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from compat.json.json_text import loads
from serdes.codec.decode import walk as decode_walk
from serdes.codec.decode.plan import Plan, resolve
from serdes.codec.encode import walk as encode_walk
from serdes.codec.errors import DecodeError, SchemaError
from serdes.codec.form import Form, data_form, json_form
from serdes.codec.schema import Node, parse

Buffer = bytes | bytearray | memoryview

#: How many codecs are kept; the one unused for longest goes first.
CACHED_CODECS = 1000


class Source(NamedTuple):
    """What a codec is compiled from; the arguments of compile_codec."""

    writer: str
    reader: str | None
    named: tuple[str, ...]
    reader_named: tuple[str, ...]
    plain_unions: bool
    json_defaults: bool
    strict: bool = False
    strict_allow_default: bool = False
    record_names: bool = False


class AvroCodec:
    """Encoders and decoders of one schema, and of one reader's schema where there is one; see compile_codec.

    The functions are attributes, so that a call costs no method around it:
        encode(datum, prefix=b"") -> bytes, which begin with the prefix. Raises EncodeError.
        decode(buffer, offset=0) -> datum; the datum must end where the buffer ends. Raises DecodeError.
        json_to_avro(value, prefix=b"") -> bytes, from parsed Avro JSON. Raises EncodeError.
        avro_to_json(buffer, offset=0) -> what a JSON library can print. Raises DecodeError.
        avro_to_json_bytes(buffer, offset=0) -> its compact text in UTF-8. Raises DecodeError.
    """

    def __init__(self, source: Source) -> None:
        self.schema = parse(source.writer, source.named)
        reader = None if source.reader is None else parse(source.reader, source.reader_named)
        if (
            source.reader
            and source.named == source.reader_named
            and loads(source.reader, comments=True) == loads(source.writer, comments=True)
        ):
            # As fastavro: what is equal is not resolved, so each branch of a union stays itself.
            reader = None
        self._json = json_form(plain=source.plain_unions, defaults=source.json_defaults)
        self._data = data_form(
            strict=source.strict, strict_allow_default=source.strict_allow_default, record_names=source.record_names
        )
        try:
            #: How a datum is read; decoders of other forms are made of it as well.
            self.plan = resolve(self.schema, reader)
        except RecursionError:
            raise SchemaError("the schema is nested too deeply") from None

    @property
    def is_raw(self) -> bool:
        """Whether a message's payload is the value as it stands: a schema of bytes has no length (wire format)."""
        return self.schema.kind == "bytes" and self.schema.logical is None

    @cached_property
    def encode(self) -> Callable[..., bytes]:
        """The function from a Python datum to its bytes."""
        return _encoder(self.schema, self._data)

    @cached_property
    def decode(self) -> Callable[..., Any]:
        """The function from a buffer and an offset to the Python datum."""
        return decoder(self.plan, self._data)

    @cached_property
    def json_to_avro(self) -> Callable[..., bytes]:
        """The function from parsed Avro JSON to the datum's bytes."""
        return _encoder(self.schema, self._json)

    @cached_property
    def avro_to_json(self) -> Callable[..., Any]:
        """The function from a buffer and an offset to Avro JSON as Python objects."""
        return decoder(self.plan, self._json)

    @cached_property
    def avro_to_json_bytes(self) -> Callable[..., bytes]:
        """The function from a buffer and an offset to the compact Avro JSON text, in UTF-8."""
        import orjson  # noqa: PLC0415  (its import takes longer than that of all codecs)

        decode, dumps, words = self.avro_to_json, orjson.dumps, self.schema.words()

        def show(buffer: Buffer, offset: int = 0) -> bytes:
            value = decode(buffer, offset)
            try:
                return dumps(value)
            except orjson.JSONEncodeError as error:
                raise DecodeError("$", offset, words, f"no JSON: {error}") from None

        return show


#: What compiling a schema's source may end in, beyond what Python's compiler bears: then it is done step by step.
_TOO_MUCH = (SyntaxError, RecursionError, MemoryError)


def _encoder(node: Node, form: Form) -> Callable[..., bytes]:
    from serdes.codec.encode.source import encoder  # noqa: PLC0415  (a consumer needs none)

    try:
        return encoder(node, form)
    except _TOO_MUCH:
        return lambda datum, prefix=b"": prefix + encode_walk.encode(node, datum, form)


def decoder(plan: Plan, form: Form) -> Callable[..., Any]:
    """The function from a buffer and an offset to the datum of a plan, in a form."""
    from serdes.codec.decode import source as decode_source  # noqa: PLC0415  (a producer needs none)

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
    record_names: bool = False,
) -> AvroCodec:
    """The codec of a schema; the same arguments give the same codec for as long as it is cached.

    Args:
        writer: The schema's JSON text: that of the data's bytes.
        reader: The text of the schema that decoders present the data as, if another.
        named: The texts of the schemas that the writer mentions by name, in dependency order.
        reader_named: As `named`, for the reader; the writer's where left out.
        plain_unions: Avro JSON shows unions' values without tags, and takes them without.
        json_defaults: A field that Avro JSON lacks takes its default; else it is an error, as in Java's Avro.
        strict: `encode` refuses records with unknown fields and those that lack one.
        strict_allow_default: As `strict`, but a field with a default may be left out.
        record_names: `decode` gives a record of a union as a pair of its full name and the record, as fastavro's
            `return_record_name` does.

    Raises:
        SchemaError: A text is no schema.
    """
    known = tuple(named)
    known_to_reader = known if reader_named is None else tuple(reader_named)
    if reader == writer and known_to_reader == known:
        reader = None
    source = Source(
        writer,
        reader,
        known,
        known_to_reader,
        plain_unions=plain_unions,
        json_defaults=json_defaults,
        strict=strict,
        strict_allow_default=strict_allow_default,
        record_names=record_names,
    )
    return _compile(source)


@lru_cache(maxsize=CACHED_CODECS)
def _compile(source: Source) -> AvroCodec:
    return AvroCodec(source)
