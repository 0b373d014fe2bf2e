"""URLs in answers have the scheme that a proxy on this machine reports for its client."""

from __future__ import annotations

import httpx
import pytest

BROWSER = {"Sec-Fetch-Site": "same-origin"}


@pytest.mark.parametrize(
    ("headers", "scheme"),
    [
        ({}, "http"),
        ({"X-Forwarded-Proto": "https"}, "https"),
        ({"X-Forwarded-Proto": "https", **BROWSER}, "https"),
        ({"x-forwarded-proto": "https", "X-Forwarded-For": "192.0.2.1"}, "https"),
        ({"X-Forwarded-For": "192.0.2.1"}, "http"),
        ({"X-Forwarded-Proto": "gopher"}, "http"),
        (BROWSER, "http"),
    ],
)
def test_links_have_the_scheme_of_the_client(proxy_url: str, headers: dict[str, str], scheme: str) -> None:
    with httpx.Client(base_url=proxy_url) as client:
        # The second request takes the short way of a host that was accepted before.
        for _ in range(2):
            answer = client.get("/v3/clusters", headers=headers)
            assert answer.json()["metadata"]["self"].partition(":")[0] == scheme
