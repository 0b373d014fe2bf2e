"""Reports of v3: the outcome of a record."""

from __future__ import annotations

import orjson

from magicbyte.kit.errors import ApiError
from rest_proxy.errors import undelivered
from rest_proxy.formats.instants import instant
from rest_proxy.produce.entry_encoder import Encoded
from rest_proxy.produce.sent import SentRecord


class Reports:
    """Writes the reports of the records of one request."""

    def __init__(self, cluster_id: str, topic: str) -> None:
        """Begin.

        Args:
            cluster_id: The cluster's id as the client wrote it.
            topic: The topic.
        """
        names = b'"cluster_id":%b,"topic_name":%b' % (orjson.dumps(cluster_id), orjson.dumps(topic))
        self._start = names.replace(b"%", b"%%") + b',"partition_id":%d,"offset":%d'

    def of(self, sent: SentRecord, encoded: Encoded) -> bytes:
        """The report of a settled record in a stream."""
        if sent.message is None:
            assert sent.error is not None
            return failed(undelivered(sent.error))
        return b'{"error_code":200,%b' % self.arrived(sent, encoded)

    def arrived(self, sent: SentRecord, encoded: Encoded) -> bytes:
        """The report of an acknowledged record, without its opening brace and first member."""
        message = sent.message
        assert message is not None
        offset = message.offset()
        # The offset is unknown without acks, or if an earlier attempt had delivered the record.
        report = self._start % (message.partition(), -1 if offset is None else offset)
        _, milliseconds = message.timestamp()
        if milliseconds > 0:
            report += b',"timestamp":"%b"' % instant(milliseconds)
        if encoded.key is not None:
            report += b',"key":%b' % encoded.key
        if encoded.value is not None:
            report += b',"value":%b' % encoded.value
        return report + b"}"


def code_and_message(error: ApiError) -> tuple[int, str]:
    """The code and message that report an error; with status 422, the message has the code (spec 3.5)."""
    message = error.message.partition("\n")[0].rstrip("\r")
    if 42200 <= error.code < 42300:
        return 422, f"Error: {error.code} : {message}"
    return error.code, message


def failed(error: ApiError) -> bytes:
    """The report of a failed record in a stream."""
    code, message = code_and_message(error)
    return b'{"error_code":%d,"message":%b}' % (code, orjson.dumps(message))
