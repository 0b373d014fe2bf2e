"""Records that fit a filter, decoded to be shown: the worker's part of a scan."""

from __future__ import annotations

import base64
from typing import Any

import msgspec
import orjson

from magicbyte.ui.messages.decode import MessageReader, cut_value
from magicbyte.ui.messages.failure import ENDING, Failure
from magicbyte.ui.messages.filter_text import HasHeader, read_filter
from magicbyte.ui.messages.filtering import Candidate, Part, fits
from magicbyte.ui.messages.kinds import KINDS, MESSAGE, plain, schema_id_of
from magicbyte.ui.messages.request import DecodeRequest
from magicbyte.ui.messages.scan_request import ScannedRecord, Selected, SelectRequest
from serdes.client.clients import RegistryClient
from serdes.message.wire import header_name

#: The bytes of a key, value or header that a list shows, and those of a value's JSON.
SHOWN_BYTES = 4_096
SHOWN_TEXT = 16_384
#: The most headers of a record that a list shows.
_SHOWN_HEADERS = 100


def selected(client: RegistryClient, request: SelectRequest, most_bytes: int) -> bytes:
    """The answer to a request, as JSON.

    Args:
        client: The registry's client, with the rights of the sender.
        request: The records, in their order.
        most_bytes: The largest size of the selected records; the worker looks at no more records beyond it.
    """
    conditions = read_filter(request.filter)
    # Names of headers need no decoding.
    decodes = any(not isinstance(condition, HasHeader) for condition in conditions)
    sides = {name: _Side(client, request, name, most_bytes) for name in ("key", "value")}
    records: list[msgspec.Raw] = []
    seen, size = 0, 0
    for record in request.records:
        if len(records) >= request.most or size > most_bytes:
            break
        seen += 1
        headers = [(name, _bytes(value)) for name, value in record.headers]
        parts = {"key": _bytes(record.key), "value": _bytes(record.value)}
        if conditions:
            seen_parts = {
                name: side.part(parts[name], headers) if decodes else Part(None) for name, side in sides.items()
            }
            if not fits(Candidate(seen_parts, headers), conditions):
                continue
        decoded = {name: orjson.Fragment(side.item(parts[name], headers)) for name, side in sides.items()}
        row = orjson.dumps({**_shown(record, parts, headers, whole=request.whole), "decoded": decoded})
        size += len(row)
        records.append(msgspec.Raw(row))
    return msgspec.json.encode(Selected(seen, records))


class _Side:
    """Reads the keys, or the values, of one request."""

    def __init__(self, client: RegistryClient, request: SelectRequest, name: str, most_bytes: int) -> None:
        self._kind = request.key_as if name == "key" else request.value_as
        self._shown = None if request.whole else SHOWN_TEXT
        self._header = header_name(is_key=name == "key")
        wanted = DecodeRequest(
            topic=request.topic,
            is_key=name == "key",
            context=request.context,
            schema_id=schema_id_of(self._kind),
            unions=request.unions,
            logical=request.logical,
        )
        self._reader = MessageReader(client, wanted, most_bytes, shown=self._shown)

    @property
    def _read(self) -> Any:
        return KINDS.get(self._kind)

    def part(self, data: bytes | None, headers: list[tuple[str, bytes | None]]) -> Part:
        """The key or value as filters see it."""
        if data is None:
            return Part(None, is_null=True)
        try:
            if self._read is not None:
                return Part(self._read(data))
            return Part(*self._reader.text(data, self._guid(headers)))
        except ENDING:
            raise
        except Exception:  # noqa: BLE001  hostile bytes and schemas may raise anything
            return Part(plain(data) if self._kind == MESSAGE else None)

    def item(self, data: bytes | None, headers: list[tuple[str, bytes | None]]) -> bytes:
        """The key or value as the answer has it."""
        if data is None or self._read is None:
            return self._reader.item(None if data is None else (data, self._guid(headers)))
        try:
            text: bytes = self._read(data)
        except ValueError as error:
            return orjson.dumps({**Failure("kind", str(error)).members(), "as": self._kind})
        if self._shown is not None and len(text) > self._shown:
            return orjson.dumps({**cut_value(text), "as": self._kind})
        return b'{"as":"%b","value":%b}' % (self._kind.encode(), text)

    def _guid(self, headers: list[tuple[str, bytes | None]]) -> bytes | None:
        """The value of the header that names the schema; None if there is none, or if the kind names a schema."""
        if self._kind != MESSAGE:
            return None
        return next((value for name, value in reversed(headers) if name == self._header and value is not None), None)


def _bytes(packed: str | None) -> bytes | None:
    return None if packed is None else base64.b64decode(packed)


def _shown(
    record: ScannedRecord,
    parts: dict[str, bytes | None],
    headers: list[tuple[str, bytes | None]],
    *,
    whole: bool,
) -> dict[str, Any]:
    """The record with its long parts cut, and the sizes of what it had."""
    texts = (name for name, _ in headers)
    sizes = [len(data) for data in (*parts.values(), *(value for _, value in headers), *texts) if data is not None]
    is_cut = not whole and (max(sizes, default=0) > SHOWN_BYTES or len(headers) > _SHOWN_HEADERS)
    shown = headers[:_SHOWN_HEADERS] if is_cut else headers
    return {
        "partition": record.partition,
        "offset": record.offset,
        "timestamp": record.timestamp,
        "key": _packed(parts["key"], is_cut=is_cut),
        "value": _packed(parts["value"], is_cut=is_cut),
        "keySize": None if parts["key"] is None else len(parts["key"]),
        "valueSize": None if parts["value"] is None else len(parts["value"]),
        "headers": [{"name": name[:SHOWN_BYTES], "value": _packed(value, is_cut=is_cut)} for name, value in shown],
        "cut": is_cut,
    }


def _packed(data: bytes | None, *, is_cut: bool) -> str | None:
    """The bytes in base64; if they are cut, between two characters of a text."""
    if data is None:
        return None
    if is_cut and len(data) > SHOWN_BYTES:
        end = SHOWN_BYTES
        while end > SHOWN_BYTES - 4 and data[end] & 0xC0 == 0x80:
            end -= 1
        data = data[:end]
    return base64.b64encode(data).decode()
