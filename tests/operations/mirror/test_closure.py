"""Subjects that are mirrored since chosen ones refer to them."""

from __future__ import annotations

from magicbyte.operations.mirror.mirroring import Options
from magicbyte.operations.mirror.naming import Naming
from tests.operations.mirror.conftest import Api, mirror, mirror_once, until

_RECORD = '{"type":"record","name":"%s","fields":[%s]}'


def _refer(source: Api, version: int) -> None:
    reference = [{"name": "Money", "subject": "money", "version": version}]
    source.register("orders", _RECORD % ("Order", '{"name":"m","type":"Money"}'), references=reference)


def _remove(source: Api, subject: str) -> None:
    source("DELETE", f"/subjects/{subject}")
    source("DELETE", f"/subjects/{subject}?permanent=true")


def test_the_mirror_keeps_following_a_former_reference(shared: tuple[Api, Api]) -> None:
    source, target = shared
    options = Options(Naming(".closure", ("orders",)))

    def kept() -> dict[str, set[int]]:
        found: dict[str, set[int]] = {}
        for name, number in target.state().versions:
            if name.startswith(":.closure:"):
                found.setdefault(name.removeprefix(":.closure:"), set()).add(number)
        return found

    source("PUT", "/config/money", {"compatibility": "NONE"})
    source.register("money", _RECORD % ("Money", ""))
    _refer(source, 1)
    mirror_once(source.url, target.url, options)
    assert kept() == {"money": {1}, "orders": {1}}
    _remove(source, "orders")
    mirror_once(source.url, target.url, options)
    with mirror(source.url, target.url, options) as running:
        running.until_told("following")
        source.register("money", _RECORD % ("Money", '{"name":"i","type":"int","default":0}'))
        _refer(source, 2)
        until(lambda: "orders" in kept(), "orders arrives")
        assert kept() == {"money": {1, 2}, "orders": {1}}
        assert not running.failed
    _remove(source, "orders")
    _remove(source, "money")
    mirror_once(source.url, target.url, options)
    assert kept() == {}
