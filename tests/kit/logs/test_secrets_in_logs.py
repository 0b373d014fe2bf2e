"""The search of the suite's logs finds credentials of each shape, and nothing else."""

from __future__ import annotations

import pytest

from tests.secrets_in_logs import secrets_in


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("key mbs_admin here", ["mbs_admin"]),
        ("Authorization: Basic YWxpY2U6cHc=", ["Basic YWxpY2U6cHc="]),
        ("b'Bearer abcDEF0123456789'", ["Bearer abcDEF0123456789"]),
        ("eyJhbGciOiJSUzI1NiJ9.e30.x", ["eyJhbGciOiJSUzI1NiJ9."]),
        ("http://alice:pw@127.0.0.1/x", ["://alice:pw@"]),
        ("$argon2id$v=19", ["$argon2"]),
        ("http://[hidden]@127.0.0.1/x http://127.0.0.1:8081/a@b a Basic question, Bearer tokens", []),
        ('"url":"http://127.0.0.1:8081","mail":"a@b"', []),
    ],
)
def test_the_filter_recognizes_credentials_by_their_shape(text: str, found: list[str]) -> None:
    assert secrets_in(text.encode()) == found
