"""A topic behind the REST proxy, read with the sender's rights; proxies without version 3 are read by version 1."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

import httpx
import msgspec

from magicbyte.kit.errors import ApiError, ErrorKind
from magicbyte.ui import errors
from magicbyte.ui.messages.scan_request import ScannedRecord

#: Sends a GET to the REST proxy as the sender of a request: the target and the headers.
Get = Callable[[str, Mapping[str, str]], Awaitable[httpx.Response]]

_MOST_RECORDS = 10_000
#: How long the proxy waits for a record that is below the end: a broker may be busy.
_WAIT_MS = 10_000
_BINARY_V1 = "application/vnd.kafka.binary.v1+json"
#: Answers to routes that a proxy does not have; an `error_code` above 404 concerns the topic instead.
_MISSING = (404, 405, 406)
_FORBIDDEN = 403
_EPOCH, _MILLISECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class Bounds:
    """The offsets of a partition.

    Attributes:
        first: The first offset.
        end: The offset behind the last record.
    """

    first: int
    end: int


@dataclass(frozen=True, slots=True)
class Page:
    """Some records of a partition.

    Attributes:
        records: The records in the order of their offsets.
        next_offset: Where the next page begins.
    """

    records: list[ScannedRecord]
    next_offset: int


class _Data(msgspec.Struct, gc=False):
    data: str | None = None


class _Header(msgspec.Struct, gc=False):
    name: str
    value: str | None = None


class _RecordV3(msgspec.Struct, gc=False):
    offset: int
    timestamp: str | None = None
    key: _Data | None = None
    value: _Data | None = None
    headers: list[_Header] = []


class _PageV3(msgspec.Struct, gc=False):
    data: list[_RecordV3]
    next_offset: int


class _RecordV1(msgspec.Struct, gc=False):
    offset: int
    key: str | None = None
    value: str | None = None


class _OffsetsV3(msgspec.Struct, gc=False):
    partition_id: int
    earliest_offset: int
    latest_offset: int


class _AllOffsetsV3(msgspec.Struct, gc=False):
    data: list[_OffsetsV3]


class _PartitionV1(msgspec.Struct, gc=False):
    partition: int


class _OffsetsV1(msgspec.Struct, gc=False):
    beginning_offset: int
    end_offset: int


class _Cluster(msgspec.Struct, gc=False):
    cluster_id: str


class _Clusters(msgspec.Struct, gc=False):
    data: list[_Cluster]


T = TypeVar("T")


class _MissingRoute(Exception):
    """The proxy does not have a route."""


class TopicSource:
    """The records of one topic."""

    def __init__(
        self, get: Get, topic: str, *, committed: bool = False, ends_stable: bool = True, waits: bool = True
    ) -> None:
        """Describe the topic; nothing is asked yet.

        Args:
            get: Sends a GET to the REST proxy.
            topic: The topic's name.
            committed: Whether records of open and aborted transactions are left out; version 1 cannot.
            ends_stable: Whether it then ends before the first open transaction. If not, a read at the end waits: the
                broker acknowledges a commit slightly before it counts.
            waits: Whether the proxy waits for records. There may be no committed ones up to the end.
        """
        self._get = get
        self._topic = quote(topic, safe="")
        self._isolation = {"isolation": "read_committed"} if committed else {}
        self._of_bounds = self._isolation if ends_stable else {}
        self._wait_ms = _WAIT_MS if waits else 0
        #: The path of the topic in version 3; None if the proxy does not have it.
        self._v3: str | None = None

    @property
    def has_v3(self) -> bool:
        """Whether version 3 reads the topic; known after `bounds` and `read`."""
        return self._v3 is not None

    async def bounds(self) -> dict[int, Bounds]:
        """The offsets of all partitions.

        Raises:
            ApiError: The proxy refuses or does not answer.
        """
        try:
            clusters = await self._clusters()
            if clusters.data:
                self._v3 = f"/v3/clusters/{quote(clusters.data[0].cluster_id, safe='')}/topics/{self._topic}"
                query = f"?{urlencode(self._of_bounds)}" if self._of_bounds else ""
                answer = await self._ask(f"{self._v3}/partitions/-/offset{query}", _AllOffsetsV3)
                return {row.partition_id: Bounds(row.earliest_offset, row.latest_offset) for row in answer.data}
        except _MissingRoute:
            pass
        path = f"/topics/{self._topic}/partitions"
        rows = await self._ask_v1(path, list[_PartitionV1])
        bounds = {}
        for row in rows:
            offsets = await self._ask_v1(f"{path}/{row.partition}/offsets", _OffsetsV1)
            bounds[row.partition] = Bounds(offsets.beginning_offset, offsets.end_offset)
        return bounds

    async def _clusters(self) -> _Clusters:
        """The cluster's id, which version 3 wants in each path; none if the proxy tells it to few."""
        try:
            return await self._ask("/v3/clusters", _Clusters)
        except ApiError as refusal:
            if refusal.status != _FORBIDDEN:
                raise
            return _Clusters([])

    def require_headers(self) -> None:
        """Require that the proxy's answers have headers; `bounds` has to be called before.

        Raises:
            ApiError: It has no version 3.
        """
        if self._v3 is None:
            raise errors.NO_HEADERS()

    async def offset_at(self, partition: int, time: int) -> int:
        """The offset of the first record at a time or later; the end if there is none.

        Args:
            partition: The partition.
            time: In ms since the epoch.

        Raises:
            ApiError: The proxy refuses, does not answer, or cannot find times.
        """
        if self._v3 is not None:
            query = {"timestamp": time, "max_records": 1, "max_bytes": 1, "key_type": "BINARY", "value_type": "BINARY"}
            try:
                page = await self._ask(f"{self._v3}/partitions/{partition}/records?{urlencode(query)}", _PageV3)
                return page.data[0].offset if page.data else page.next_offset
            except _MissingRoute:
                self._v3 = None
        raise errors.NO_TIMES()

    async def read(self, partition: int, offset: int, *, records: int, size: int) -> Page:
        """Records of a partition below its end, at least one if there is any and the proxy waits for it.

        Args:
            partition: The partition.
            offset: The offset to begin at; the first one if it has been deleted.
            records: The most records.
            size: The most bytes; one record may have more.

        Raises:
            ApiError: The proxy refuses or does not answer.
        """
        records = min(records, _MOST_RECORDS)
        if self._v3 is not None:
            query = {
                "offset": offset,
                "max_records": records,
                "max_bytes": size,
                "max_wait_ms": self._wait_ms,
                "out_of_range": "earliest",
                "key_type": "BINARY",
                "value_type": "BINARY",
                **self._isolation,
            }
            try:
                page = await self._ask(f"{self._v3}/partitions/{partition}/records?{urlencode(query)}", _PageV3)
                if page.next_offset <= offset and self._wait_ms:
                    raise errors.NOTHING_READ(partition=partition, offset=offset, seconds=_WAIT_MS // 1000)
                return Page([_record(partition, row) for row in page.data], page.next_offset)
            except _MissingRoute:
                self._v3 = None
        path = f"/topics/{self._topic}/partitions/{partition}/messages?offset={offset}&count={records}"
        rows = await self._ask_v1(path, list[_RecordV1], accept=_BINARY_V1)
        read = [ScannedRecord(partition, row.offset, None, row.key, row.value) for row in rows]
        return Page(read, read[-1].offset + 1 if read else offset)

    async def _ask_v1(self, target: str, kind: type[T], accept: str = "application/json") -> T:
        try:
            return await self._ask(target, kind, accept)
        except _MissingRoute:
            raise errors.NOT_A_PROXY() from None

    async def _ask(self, target: str, kind: type[T], accept: str = "application/json") -> T:
        try:
            answer = await self._get(target, {"accept": accept})
        except TimeoutError:
            raise errors.TOO_SLOW(server="REST proxy", seconds="30") from None
        except OSError:
            raise errors.UNREACHABLE(server="REST proxy") from None
        if answer.status_code == 200:
            try:
                return msgspec.json.decode(answer.content, type=kind)
            except (ValueError, RecursionError) as error:
                raise errors.ODD_ANSWER(detail=error) from None
        raise _refusal(answer)


def _refusal(answer: httpx.Response) -> Exception:
    """The proxy's error, as the answer of the page."""
    try:
        body: Any = msgspec.json.decode(answer.content)
    except (ValueError, RecursionError):
        body = {}
    body = body if isinstance(body, dict) else {}
    code, message = body.get("error_code"), body.get("message")
    code = code if isinstance(code, int) and 400 <= code < 600_000 else answer.status_code
    if answer.status_code in _MISSING and code in _MISSING:
        return _MissingRoute()
    detail = message if isinstance(message, str) else f"the REST proxy answered with status {answer.status_code}"
    refusal: ApiError = ErrorKind(code, "{detail}", answer.status_code)(detail=detail)
    challenge = answer.headers.get("www-authenticate")
    return refusal if challenge is None else refusal.with_headers(WWW_Authenticate=challenge)


def _record(partition: int, row: _RecordV3) -> ScannedRecord:
    return ScannedRecord(
        partition,
        row.offset,
        _milliseconds(row.timestamp),
        None if row.key is None else row.key.data,
        None if row.value is None else row.value.data,
        [(header.name, header.value) for header in row.headers],
    )


def _milliseconds(time: str | None) -> int | None:
    try:
        return None if time is None else (datetime.fromisoformat(time) - _EPOCH) // _MILLISECOND
    except (ValueError, TypeError):
        return None
