"""Errors of the page's own routes, as rows of the error table."""

from __future__ import annotations

from magicbyte.kit.errors import ErrorKind

NO_REST_PROXY = ErrorKind(404, "No REST proxy is configured: set magicbyte.ui.rest.url=http://HOST:8082")
READ_ONLY = ErrorKind(403, "The page may only read here: magicbyte.ui.read.only is set")
NOT_SIGNED_IN = ErrorKind(401, "The schema registry asks for a sign-in")
UNREACHABLE = ErrorKind(502, "The {server} cannot be reached")
TOO_SLOW = ErrorKind(504, "The {server} did not answer within {seconds} s")
TOO_MANY_EVENTS = ErrorKind(
    429, "This client has {limit} /events open, and may have no more (magicbyte.ui.events.max.per.client)."
)
TOO_MANY_PASSED_ON = ErrorKind(
    429,
    "The page sends the {server} at most {limit} requests of a client at once (magicbyte.ui.relay.requests.max), and of"
    " its other requests {waiting} may wait (magicbyte.ui.relay.waiting.max.per.client). This one got no turn:"
    " {reason}",
)

BODY_TOO_LARGE = ErrorKind(40001, "the body has {size} bytes; at most {limit} are read")
BAD_REQUEST = ErrorKind(40001, "{detail}")
TOO_MANY_MESSAGES = ErrorKind(
    42901,
    "too many messages are being decoded: {reason}; ask again later (magicbyte.ui.messages.workers,"
    " magicbyte.ui.messages.waiting.max.per.client)",
)
UNREAD_ANSWERS = ErrorKind(
    42901,
    "this client's messages, and the answers that it has not read, have over {limit} bytes"
    " (four times magicbyte.ui.messages.max.bytes and the largest body); read the answers, and ask again",
)
TOO_MUCH_CPU = ErrorKind(
    42201,
    "this takes more than {limit} ms of processor time (magicbyte.ui.messages.cpu.ms); send fewer or smaller messages,"
    " or use a simpler schema",
)
TOO_MUCH_MEMORY = ErrorKind(
    42201,
    "this takes more than {limit} bytes of memory (magicbyte.ui.messages.memory.bytes); send fewer or smaller messages,"
    " or use a simpler schema",
)
WORKER_DIED = ErrorKind(42201, "the messages cannot be converted with these schemas: {reason}")
MESSAGES_TOO_SLOW = ErrorKind(
    50301,
    "the registry did not answer in time, or the machine is busy: this took more than {limit} ms"
    " (magicbyte.ui.messages.timeout.ms); ask again later, or for fewer messages",
)
NO_ROOM = ErrorKind(50301, "other clients need the memory that this request holds; ask again later")
NO_WORKER = ErrorKind(50301, "no process could work on this: {reason}; ask again later")

TOO_MANY_TOGETHER = ErrorKind(
    42901,
    "too many requests for several answers: {reason}; ask again later (magicbyte.ui.relay.waiting.max.per.client)",
)
NO_PARTITION = ErrorKind(40402, "The topic has no partition {partition}")
NO_TIMES = ErrorKind(404, "This REST proxy cannot find records by their time")
NOTHING_READ = ErrorKind(
    504, "The broker returned no record of partition {partition} from offset {offset} on within {seconds} s"
)
NO_HEADERS = ErrorKind(
    404,
    "The reasons of dead letters are in headers, which need a REST proxy with version 3",
)
NO_LETTER = ErrorKind(
    40403, "There is no letter at {partition}:{offset}; the partition has offsets from {first} to before {end}"
)
COSTLY_CONDITION = ErrorKind(42201, "the condition cannot be evaluated: {detail}")
NOT_A_PROXY = ErrorKind(502, "The server at magicbyte.ui.rest.url is no REST proxy")
ODD_ANSWER = ErrorKind(502, "The REST proxy's answer cannot be read: {detail}")
TOO_MANY_SCANS = ErrorKind(
    42901,
    "too many searches of messages run: {reason}; ask again later (magicbyte.ui.scans,"
    " magicbyte.ui.messages.waiting.max.per.client)",
)
