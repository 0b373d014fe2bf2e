"""Errors that all HTTP servers share, as rows of the error table."""

from __future__ import annotations

from magicbyte.kit.errors import ErrorKind

NOT_FOUND = ErrorKind(404, "HTTP 404 Not Found")
METHOD_NOT_ALLOWED = ErrorKind(405, "HTTP 405 Method Not Allowed")
NOT_ACCEPTABLE = ErrorKind(406, "HTTP 406 Not Acceptable")
UNSUPPORTED_MEDIA_TYPE = ErrorKind(415, "HTTP 415 Unsupported Media Type")
UNSUPPORTED_ENCODING = ErrorKind(
    415, "The request has Content-Encoding: {encoding}; send the body without an encoding (identity)"
)
BODY_TOO_LARGE = ErrorKind(413, "HTTP 413 Request Entity Too Large")
MALFORMED_BODY = ErrorKind(400, "{detail}")
BAD_REQUEST = ErrorKind(400, "{detail}")
UNAUTHORIZED = ErrorKind(401, "Unauthorized")
FORBIDDEN = ErrorKind(403, "Forbidden")
FOREIGN_ORIGIN = ErrorKind(
    403, "Requests from pages of {origin} are refused: access.control.allow.origin does not allow {denied}"
)
REQUEST_TIMEOUT = ErrorKind(408, "The request was not complete in time: {detail}")
TARGET_TOO_LONG = ErrorKind(414, "The request target is longer than {limit} bytes")
MISDIRECTED = ErrorKind(
    421, "This server is not {host}; if it is known by that name too, add the name to magicbyte.allowed.hosts"
)
WRONG_SCHEME = ErrorKind(421, "This listener speaks {scheme}, and the request target has another scheme")
TOO_MANY_FAILURES = ErrorKind(429, "Too many failed authentications")
TOO_MUCH_PIPELINED = ErrorKind(
    429,
    "Requests that wait for earlier answers have over {limit} bytes on all connections "
    "(magicbyte.pipelining.buffer.bytes); send each request after the answer to the one before it",
)
HEAD_TOO_LARGE = ErrorKind(431, "The request's head is larger than {limit}")
TOO_MANY_CONNECTIONS = ErrorKind(503, "Too many connections")
INTERNAL = ErrorKind(500, "Internal Server Error")
UNSUPPORTED_TRANSFER = ErrorKind(501, "The request has Transfer-Encoding: {encoding}; only chunked is supported")
STOPPING = ErrorKind(503, "The server is stopping")
GATEWAY_TIMEOUT = ErrorKind(504, "HTTP 504 Gateway Timeout")
UNSUPPORTED_VERSION = ErrorKind(505, "HTTP/{version} is not supported; use HTTP/1.1")
