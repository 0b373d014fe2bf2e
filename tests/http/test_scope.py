"""The scope of a request: its path and query are those that httptools' own parser of URLs finds."""

from __future__ import annotations

import httptools
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from magicbyte.http.connection.request.parser import Head
from magicbyte.http.connection.request.scope import request_scope

CONNECTION = {"type": "http", "scheme": "http"}


def parts(target: bytes, method: bytes = b"GET") -> tuple[bytes, bytes, str]:
    head = Head()
    head.method, head.target = method, target
    scope = request_scope(head, CONNECTION)
    return scope["raw_path"], scope["query_string"], scope["path"]


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (b"/", (b"/", b"", "/")),
        (b"/a/b?x=1&y=?", (b"/a/b", b"x=1&y=?", "/a/b")),
        (b"/a?", (b"/a", b"", "/a")),
        (b"//host/a?b", (b"//host/a", b"b", "//host/a")),
        (b"/a%2Fb%20c", (b"/a%2Fb%20c", b"", "/a/b c")),
        (b"/a?b#c", (b"/a", b"b", "/a")),
        (b"/a#b?c", (b"/a", b"", "/a")),
        (b"http://localhost/a?b", (b"/a", b"b", "/a")),
        (b"*", (b"*", b"", "*")),
    ],
)
def test_a_target_has_a_path_and_a_query(target: bytes, expected: tuple[bytes, bytes, str]) -> None:
    url = httptools.parse_url(target)
    assert parts(target) == expected
    assert (url.path or b"", url.query or b"") == expected[:2]


def test_connect_has_no_path() -> None:
    assert parts(b"localhost:80", b"CONNECT") == (b"", b"", "")


@given(st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), max_size=40))
@example("?")
@example("/a?b?c")
@example("a#?")
def test_a_path_is_split_as_httptools_splits_it(rest: str) -> None:
    target = f"/{rest}".encode()
    url = httptools.parse_url(target)
    assert parts(target)[:2] == (url.path, url.query or b"")
