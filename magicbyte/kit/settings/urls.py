"""The kinds of addresses in settings: URLs of HTTP servers and databases, and the brokers of a Kafka cluster.

Only the text is checked: scheme, host and port. Nothing is resolved or connected.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

from magicbyte.kit.secret import hide_user_info
from magicbyte.kit.settings.kinds import ProblemError, Scalar
from magicbyte.kit.settings.nodes import ScalarNode
from magicbyte.kit.settings.place import nearest

_HTTP = ("http", "https")
#: The scheme of a registry inside the process, for tests; it has no host.
_MOCK = "mock"
_DATABASES = ("postgresql", "sqlite")
#: JDBC drivers whose URLs have `//HOST:PORT`, with commas between several.
_WITH_HOSTS = ("postgresql", "mysql", "mariadb", "sqlserver", "redshift", "clickhouse", "db2")
_MOST_PORT = 65_535

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.DOTALL)
_JDBC = re.compile(r"jdbc:([A-Za-z][\w.+-]*):(.*)", re.DOTALL)
#: User and password, host, and port, as SQLAlchemy parts them: a password may have slashes.
_AUTHORITY = re.compile(r"(?:[^:/@]*(?::[^@]*)?@)?(?P<host>\[[^\]/?]+\]|[^/?:]*)(?::(?P<port>[^/?]*))?")
_BROKER = re.compile(r"(?:[A-Za-z0-9_]+://)?(?P<host>\[[0-9A-Fa-f:.%]+\]|[^\s\[\]/:]+)(?::(?P<port>.*))?", re.DOTALL)


def http_urls() -> Scalar:
    """URLs of HTTP servers, with commas between several."""
    return _address("http:// or https:// and a host; several with commas between", _check_http_urls)


def database_url() -> Scalar:
    """The SQLAlchemy URL of a database in PostgreSQL or SQLite."""
    return _address("an SQLAlchemy URL", _check_database_url)


def jdbc_url() -> Scalar:
    """The URL of a database with a JDBC driver."""
    return _address("a JDBC URL", _check_jdbc_url)


def brokers() -> Scalar:
    """The brokers of a Kafka cluster, as Java's clients take them: each with its port."""
    return _address("HOST:PORT; several with commas between", _check_brokers)


def _address(label: str, check: Callable[[str], None]) -> Scalar:
    def read(node: ScalarNode, _path: str) -> str:
        text = str(node.value)
        # A placeholder that is resolved elsewhere may stand for any part.
        if "${" not in text:
            check(text)
        return text

    return Scalar(label, {"type": "string"}, with_node=read)


def _items(text: str) -> Iterator[tuple[int, str]]:
    """The offsets and texts of items with commas between."""
    for match in re.finditer(r"[^,]+", text):
        item = match[0].strip()
        if item:
            yield match.start() + match[0].index(item), item


def _check_http_urls(text: str) -> None:
    urls = list(_items(text))
    if not urls:
        raise ProblemError("must not be empty; write a URL such as http://localhost:8081")
    for offset, url in urls:
        match = _SCHEME.fullmatch(url)
        if match is None:
            raise ProblemError(f"{_shown(url)} has no scheme; write http:// or https:// before the host", offset)
        scheme = match[1].lower()
        if scheme == _MOCK:
            continue
        if scheme not in _HTTP:
            near = nearest(scheme, _HTTP)
            raise ProblemError(f"{_shown(url)} has an unknown scheme; use http:// or https://{near}", offset)
        _check_host(url, offset)


def _check_host(url: str, offset: int) -> None:
    try:
        parts = urlsplit(url)
        host, netloc = parts.hostname, parts.netloc.rpartition("@")[2]
    except ValueError as error:
        raise ProblemError(f"{_shown(url)} is no URL: {error}", offset) from None
    if not host or re.search(r"\s", netloc):
        raise ProblemError(f"{_shown(url)} has no host; write http://HOST:PORT", offset)
    _, colon, port = netloc.rpartition("]")[2].partition(":")
    if colon:
        _check_port(port, url, offset)


def _check_port(port: str, text: str, offset: int) -> None:
    if not re.fullmatch("[0-9]{1,5}", port) or not 0 < int(port) <= _MOST_PORT:
        raise ProblemError(f"{_shown(text)} has no valid port; write a number from 1 to {_MOST_PORT}", offset)


def _check_database_url(text: str) -> None:
    match = _SCHEME.fullmatch(text)
    if match is None:
        raise ProblemError(f"{_shown(text)} has no scheme; write postgresql://HOST/DATABASE or sqlite:///FILE")
    database = match[1].partition("+")[0].lower()
    if database not in _DATABASES:
        near = nearest(database, _DATABASES)
        why = f"{database} is not PostgreSQL or SQLite"
        raise ProblemError(f"{why}{near}" if near else f"{why}; sink.jdbc writes it at least once")
    parts = _AUTHORITY.match(match[2])
    assert parts is not None  # it matches an empty text
    if database == "sqlite" and parts["host"]:
        raise ProblemError(
            f"{_shown(text)} has two slashes, so {parts['host']} is a host; write sqlite:///FILE, or sqlite:////FOLDER/FILE"
        )
    if parts["port"] is not None:
        _check_port(parts["port"], text, 0)


def _check_jdbc_url(text: str) -> None:
    match = _JDBC.fullmatch(text)
    if match is None:
        raise ProblemError(
            f"{_shown(text)} is no JDBC URL; write jdbc:DRIVER:.., such as jdbc:postgresql://HOST/DATABASE"
        )
    driver, rest = match[1], match[2]
    if driver == "postgres":
        raise ProblemError("postgres is no JDBC driver; did you mean postgresql?", len("jdbc:"))
    authority = re.match(r"//([^/?;]*)", rest)
    # MySQL also takes hosts as `(host=.., port=..)`.
    if driver not in _WITH_HOSTS or authority is None or set("()@") & set(authority[1]):
        return
    for offset, item in _items(authority[1]):
        _, colon, port = item.rpartition("]")[2].partition(":")
        if colon:
            _check_port(port, text, match.start(2) + authority.start(1) + offset)


def _check_brokers(text: str) -> None:
    servers = list(_items(text))
    if not servers:
        raise ProblemError("must not be empty; write HOST:PORT")
    for offset, server in servers:
        match = _BROKER.fullmatch(server)
        if match is None:
            raise ProblemError(f"{_shown(server)} is no broker; write HOST:PORT", offset)
        if match["port"] is None:
            raise ProblemError(f"{_shown(server)} has no port; write HOST:PORT", offset)
        _check_port(match["port"], server, offset)


def _shown(text: str) -> str:
    """A text for messages. With user and password it is not shown: a part of a password may look like a port."""
    return "this URL" if "@" in text else hide_user_info(repr(text))
