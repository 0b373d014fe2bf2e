"""Errors of the page's own routes, as rows of the error table."""

from __future__ import annotations

from magicbyte.kit.errors import ErrorKind

NO_REST_PROXY = ErrorKind(404, "No REST proxy is configured: set magicbyte.ui.rest.url=http://HOST:8082")
READ_ONLY = ErrorKind(403, "The page may only read here: magicbyte.ui.read.only is set")
UNREACHABLE = ErrorKind(502, "The {server} cannot be reached")
TOO_SLOW = ErrorKind(504, "The {server} did not answer within {seconds} s")
TOO_MANY_EVENTS = ErrorKind(429, "This client follows the changes {limit} times already, which is the most")
