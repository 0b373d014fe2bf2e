"""The memory limit of a process, from files of control groups."""

from __future__ import annotations

from pathlib import Path

import pytest

from magicbyte.http.metrics.process import memory_limit


@pytest.mark.parametrize(
    ("files", "group", "limit"),
    [
        ({"memory.max": "1000"}, "0::/", 1000),
        ({"memory/memory.limit_in_bytes": "3000"}, "5:memory:/x", 3000),
        ({"a/b/memory.max": "max", "a/memory.max": "2000", "memory.max": "max"}, "0::/a/b", 2000),
        ({"a/memory.max": "500", "memory.max": "1000"}, "0::/a", 500),
        ({"memory.max": "nonsense"}, "0::/", None),
        ({}, "0::/../..", None),
    ],
)
def test_the_smallest_limit_counts(tmp_path: Path, files: dict[str, str], group: str, limit: int | None) -> None:
    for name, text in files.items():
        path = tmp_path / "groups" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")
    (tmp_path / "cgroup").write_text(f"{group}\n")
    found = memory_limit(tmp_path / "groups", tmp_path / "cgroup")
    total = memory_limit(tmp_path / "none", tmp_path / "no-file")
    assert total is not None
    assert found == (total if limit is None else limit)
