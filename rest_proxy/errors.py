"""The REST proxy's error table, and the mapping from Kafka's errors to its rows."""

# ruff: noqa: SLF001  (librdkafka's local error codes are named with an underscore)

from __future__ import annotations

import errno
import re
from collections.abc import Callable, Mapping

from confluent_kafka import KafkaError, KafkaException

from magicbyte.kit.errors import ApiError, ErrorKind

INVALID_CONSUMER_BOUNDS = ErrorKind(
    40001, "Invalid consumer configuration. It does not abide by the constraints: {detail}", status=422
)
KAFKA_BAD_REQUEST = ErrorKind(40002, "{detail}")
KAFKA_AUTHENTICATION = ErrorKind(40101, "{detail}")
KAFKA_AUTHORIZATION = ErrorKind(40301, "{detail}")
TOPIC_NOT_FOUND = ErrorKind(40401, "Topic not found.")
PARTITION_NOT_FOUND = ErrorKind(40402, "Partition not found.")
CONSUMER_NOT_FOUND = ErrorKind(40403, "Consumer instance not found.")
UNKNOWN_TOPIC_OR_PARTITION = ErrorKind(40403, "{detail}")
FORMAT_MISMATCH = ErrorKind(
    40601, "The requested embedded data format does not match the deserializer for this consumer instance"
)
SERIALIZATION = ErrorKind(40801, "{detail}")
ALREADY_SUBSCRIBED = ErrorKind(
    40901,
    "Consumer cannot subscribe the the specified target because it has already subscribed to other topics.",
)
CONSUMER_EXISTS = ErrorKind(
    40902, "Consumer with specified consumer ID already exists in the specified consumer group."
)
ILLEGAL_STATE = ErrorKind(40903, "Illegal state: {detail}")
MUTUALLY_EXCLUSIVE = ErrorKind(
    40903, "Illegal state: Subscription to topics, partitions and pattern are mutually exclusive"
)
KEY_SCHEMA_MISSING = ErrorKind(42201, "Request includes keys but does not include key schema")
VALUE_SCHEMA_MISSING = ErrorKind(42202, "Request includes values but does not include value schema")
CONVERSION_FAILED = ErrorKind(42203, "Conversion of JSON to {target} failed: {detail}")
INVALID_CONSUMER_CONFIG = ErrorKind(42204, "Invalid consumer configuration: {detail}")
INVALID_SCHEMA = ErrorKind(42205, "Invalid schema: {detail}")
INVALID_PAYLOAD = ErrorKind(42206, "Payload error. {detail}")
SERIALIZING_FAILED = ErrorKind(42207, "Error serializing message. {detail}")
KAFKA_ERROR = ErrorKind(50002, "{detail}", status=500)
KAFKA_RETRIABLE = ErrorKind(50003, "{detail}", status=500)
#: Ours: the broker has not answered, so the record may or may not be in the topic.
OUTCOME_UNKNOWN = ErrorKind(50004, "{detail}", status=500)
NO_SIMPLE_CONSUMER = ErrorKind(
    50301,
    "No SimpleConsumer is available at the time in the pool. The request can be retried. You can increase the pool "
    "size or the pool timeout to avoid this error in the future.",
    status=500,
)
BROKER_UNAVAILABLE = ErrorKind(50302, "{detail}")
BAD_REQUEST = ErrorKind(400, "Bad Request: {detail}")
NOT_FOUND = ErrorKind(404, "{detail}")
#: Ours: a group or partition is in use, so that it cannot be changed now.
CONFLICT = ErrorKind(409, "{detail}")
THROTTLED = ErrorKind(42901, "{detail}")
RATE_EXCEEDED = ErrorKind(429, "Request rate limit exceeded: The rate limit of requests per second has been exceeded.")
NO_CLUSTER_ID = ErrorKind(
    502, "Kafka protocol version not supported.: Metadata Response protocol version >= 2 required."
)
RECORD_TOO_LARGE = ErrorKind(413, "{detail}")
#: Ours: there is no record at the first offset of a read.
OFFSET_OUT_OF_RANGE = ErrorKind(
    41601, "Offset {offset} of partition {partition} is out of range: the log has {earliest} to {latest}."
)
#: Ours: another node of this cluster of proxies holds the instance, and cannot be reached.
PEER_UNREACHABLE = ErrorKind(503, "The node that holds this consumer instance, {url}, cannot be reached.")
#: Ours: a request was passed on to this node, but by its settings another node holds the instance.
NOT_THE_OWNER = ErrorKind(
    503,
    "This consumer instance was looked for on the wrong node; by this one's settings it is on {url}. "
    "All nodes must have the same peers.",
)
INVALID_ENTITY = ErrorKind(422, "{detail}")
INVALID_BATCH = ErrorKind(42208, "{detail}")
STREAM_TOO_OLD = ErrorKind(408, "Streaming connection open for longer than allowed: Connection will be closed.")
#: Ours: too many requests wait for validation that may take long.
VALIDATION_BUSY = ErrorKind(429, "Too many requests wait until their records are validated: {detail}")
VALIDATION_UNAVAILABLE = ErrorKind(503, "The records were not sent: {detail}")
#: Ours: the limit on undelivered bytes is reached.
BUFFER_FULL = ErrorKind(429, "The producer's buffer is full: {detail}")
TOO_MANY_CONSUMERS = ErrorKind(429, "No further consumer instance fits on this node: {detail}")

_K = KafkaError

#: The row for each Kafka error code that has a special one; other codes are 50003 if retriable, else 50002.
_BY_KAFKA_CODE: dict[int, ErrorKind] = {
    **dict.fromkeys((_K._AUTHENTICATION, _K.SASL_AUTHENTICATION_FAILED, _K._SSL), KAFKA_AUTHENTICATION),
    **dict.fromkeys(
        (
            _K.TOPIC_AUTHORIZATION_FAILED,
            _K.GROUP_AUTHORIZATION_FAILED,
            _K.CLUSTER_AUTHORIZATION_FAILED,
            _K.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
            _K.DELEGATION_TOKEN_AUTHORIZATION_FAILED,
        ),
        KAFKA_AUTHORIZATION,
    ),
    **dict.fromkeys(
        (
            _K.INVALID_REPLICATION_FACTOR,
            _K.SECURITY_DISABLED,
            _K.UNSUPPORTED_VERSION,
            _K.INVALID_PARTITIONS,
            _K.INVALID_REQUEST,
            _K.UNKNOWN,
            _K.POLICY_VIOLATION,
            _K.TOPIC_ALREADY_EXISTS,
            _K.INVALID_CONFIG,
            _K.TOPIC_DELETION_DISABLED,
            _K.TOPIC_EXCEPTION,
            _K.INVALID_REPLICA_ASSIGNMENT,
            107,  # INELIGIBLE_REPLICA, which the client library does not name
            _K.INVALID_PRINCIPAL_TYPE,
            _K.UNACCEPTABLE_CREDENTIAL,
            _K.FEATURE_UPDATE_FAILED,
            _K.NO_REASSIGNMENT_IN_PROGRESS,
            _K.OFFSET_OUT_OF_RANGE,
            _K.INVALID_GROUP_ID,
            _K._INVALID_ARG,
        ),
        KAFKA_BAD_REQUEST,
    ),
    **dict.fromkeys(
        (
            _K.UNKNOWN_TOPIC_OR_PART,
            _K.UNKNOWN_TOPIC_ID,
            _K._UNKNOWN_TOPIC,
            _K._UNKNOWN_PARTITION,
            _K._NOENT,
        ),
        UNKNOWN_TOPIC_OR_PARTITION,
    ),
    **dict.fromkeys((_K.GROUP_ID_NOT_FOUND, _K.RESOURCE_NOT_FOUND), NOT_FOUND),
    **dict.fromkeys(
        (
            _K.NON_EMPTY_GROUP,
            _K.GROUP_SUBSCRIBED_TO_TOPIC,
            _K.REASSIGNMENT_IN_PROGRESS,
        ),
        CONFLICT,
    ),
    _K.THROTTLING_QUOTA_EXCEEDED: THROTTLED,
    **dict.fromkeys((_K.MSG_SIZE_TOO_LARGE, _K.INVALID_MSG_SIZE), RECORD_TOO_LARGE),
    **dict.fromkeys((_K.BROKER_NOT_AVAILABLE, _K._ALL_BROKERS_DOWN), BROKER_UNAVAILABLE),
}

#: Codes that say that the broker did not answer in time, not that it refused.
_UNDECIDED = frozenset((_K._MSG_TIMED_OUT, _K._TIMED_OUT, _K._PURGE_INFLIGHT, _K._PURGE_QUEUE, _K.REQUEST_TIMED_OUT))
_RETRIABLE_LOCALLY = frozenset((_K._TRANSPORT, _K._TIMED_OUT, _K._RESOLVE, _K._WAIT_COORD, _K._QUEUE_FULL))

_TEXT = {
    _K.UNKNOWN_TOPIC_OR_PART: "This server does not host this topic-partition.",
    _K._UNKNOWN_TOPIC: "This server does not host this topic-partition.",
    _K._UNKNOWN_PARTITION: "This server does not host this topic-partition.",
}
#: Java's texts of codes in brokers' responses, if they differ from the client library's.
_BROKERS_TEXT = {
    **_TEXT,
    _K.UNKNOWN_TOPIC_ID: "This server does not host this topic ID.",
    _K.TOPIC_EXCEPTION: "The request attempted to perform an operation on an invalid topic.",
}
#: A broker as the client library names it, such as `sasl_ssl://b-1.example.com:9096/1` or `ipv4#10.0.0.1:9092`.
_ADDRESS = re.compile(
    r"(?:\b(?:plaintext|ssl|sasl_plaintext|sasl_ssl)://)?(?:\bipv[46]#)?(?:\[[0-9a-z:.%]+\]|\b[a-z0-9][a-z0-9_.-]*)"
    r":[0-9]{2,5}\b(?:/(?:bootstrap|[0-9]+)\b)?",
    re.IGNORECASE,
)


def refuses(error: KafkaError) -> bool:
    """Tell whether an error says that this client's credentials, or the broker's certificate, are not accepted.

    A disconnect during a TLS handshake has the same code but is not a refusal.
    """
    return error.code() == _K._AUTHENTICATION or (error.code() == _K._SSL and "Disconnected" not in error.str())


def is_out_of_resources(error: BaseException) -> bool:
    """Tell whether an instance could not be made because the system gives no more files, threads or thread keys."""
    if isinstance(error, KafkaException):
        return bool(error.args[0].code() == _K._CRIT_SYS_RESOURCE)
    if isinstance(error, OSError):
        return error.errno in (errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM)
    # Python's error of a thread that cannot be started has no type of its own, nor has confluent-kafka's of a key.
    return isinstance(error, RuntimeError) and ("new thread" in str(error) or "thread local storage" in str(error))


def is_silence(error: KafkaError) -> bool:
    """Tell whether an error says that no broker answered, for any reason."""
    return error.code() in (_K._TIMED_OUT, _K._TRANSPORT, _K._WAIT_COORD, _K._ALL_BROKERS_DOWN)


def kafka_text(error: KafkaError) -> str:
    """The text of an error, in Java's words if clients match on them, without the addresses of brokers."""
    return _TEXT.get(error.code()) or _ADDRESS.sub("a broker", str(error.str()))


def from_kafka(error: KafkaError) -> ApiError:
    """The API's error for an error of Kafka (spec section 0)."""
    kind = _BY_KAFKA_CODE.get(error.code())
    if kind is None:
        retriable = error.retriable() or error.code() in _RETRIABLE_LOCALLY
        kind = KAFKA_RETRIABLE if retriable else KAFKA_ERROR
    return kind(detail=kafka_text(error)) if "{detail}" in kind.message else kind()


def from_broker(code: int, text: str | None, *, is_retriable: bool) -> ApiError:
    """The API's error for an error code in a broker's response.

    Args:
        code: The code in Kafka's protocol.
        text: The broker's text; None for the code's own text.
        is_retriable: Whether the same request may succeed later.
    """
    kind = _BY_KAFKA_CODE.get(code) or (KAFKA_RETRIABLE if is_retriable else KAFKA_ERROR)
    error = kind(detail=text or _BROKERS_TEXT.get(code) or f"{KafkaError(code).str().removeprefix('Broker: ')}.")
    return error.with_headers(Retry_After="1") if kind is THROTTLED else error


def from_kafka_exception(error: Exception) -> ApiError:
    """As `from_kafka`, for the exception with the error."""
    assert isinstance(error, KafkaException)
    return from_kafka(error.args[0])


#: Exceptions that any route may raise -> function that turns them into an error of this API.
TRANSLATED: Mapping[type[Exception], Callable[[Exception], ApiError]] = {KafkaException: from_kafka_exception}


def undelivered(error: KafkaError) -> ApiError:
    """The error of v3 for a record that was not acknowledged."""
    if error.code() in _UNDECIDED:
        return OUTCOME_UNKNOWN(
            detail=f"Unknown: no answer from the broker ({kafka_text(error)}); "
            "the record may or may not be in the topic."
        )
    return PARTITION_NOT_FOUND() if error.code() == _K._UNKNOWN_PARTITION else from_kafka(error)


def delivery_error(error: KafkaError) -> tuple[int, str]:
    """The `error_code` and `error` in an answer of v1 or v2 for a record that was not acknowledged."""
    if error.code() in _UNDECIDED:
        unknown = undelivered(error)
        return unknown.code, unknown.message
    kind = from_kafka(error)
    if kind.kind in (KAFKA_AUTHENTICATION, KAFKA_AUTHORIZATION, KAFKA_RETRIABLE, RECORD_TOO_LARGE):
        return kind.code, kind.message
    return KAFKA_ERROR.code, kind.message
