"""The cluster's path."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture(scope="session")
def cluster(rest: Any) -> str:
    """The path of the cluster, such as `/v3/clusters/abc`."""
    return f"/v3/clusters/{rest.get('/v3/clusters').json()['data'][0]['cluster_id']}"
