"""Offsets that clients may not read: sealed by one node, opened by another with the same secret, and by nobody else."""

from __future__ import annotations

import asyncio
import re
from types import SimpleNamespace
from typing import Any, cast

import pytest

from magicbyte.kit.errors import ApiError
from magicbyte.kit.secret import Secret
from registry.http import offset_tokens
from registry.http.cursors import SteadyCursors
from registry.http.offset_tokens import OffsetTokens
from registry.http.sealed_offsets import OffsetSeal

ONE, OTHER = Secret("a" * 40), Secret("b" * 40)


@pytest.mark.parametrize("offset", [-1, 0, 1, 255, 2**40, 2**63 - 1])
def test_a_node_with_the_same_secret_opens_what_another_has_sealed(offset: int) -> None:
    sealed = OffsetSeal(ONE, None).seal(offset)
    assert re.fullmatch(r"[0-9a-f]{48}", sealed)
    assert OffsetSeal(ONE, None).open(sealed) == offset
    assert OffsetSeal(OTHER, ONE).open(sealed) == offset
    assert OffsetSeal(OTHER, None).open(sealed) is None
    assert OffsetSeal(None, None).open(sealed) is None


def test_a_process_without_a_secret_opens_its_own() -> None:
    seal = OffsetSeal(None, None)
    assert seal.open(seal.seal(7)) == 7


def test_the_same_offset_looks_different_each_time() -> None:
    seal = OffsetSeal(ONE, None)
    assert len({seal.seal(7) for _ in range(100)}) == 100


def test_a_node_does_not_open_a_changed_or_malformed_token() -> None:
    seal = OffsetSeal(ONE, None)
    sealed = seal.seal(7)
    changed = [sealed[:at] + ("1" if sealed[at] == "0" else "0") + sealed[at + 1 :] for at in range(48)]
    assert {seal.open(text) for text in (*changed, sealed[:-2], sealed + "00", "", "xy", "0" * 48)} == {None}


def tokens_at(offset: int, seal: OffsetSeal | None) -> OffsetTokens:
    node = SimpleNamespace(log_id="log", view=SimpleNamespace(offset=offset), holds=lambda asked: asked <= offset)

    async def sync() -> None:
        await asyncio.sleep(0.01)

    return OffsetTokens(cast("Any", node), cast("Any", sync), seal)


def test_a_node_waits_for_the_offset_of_a_sealed_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offset_tokens, "WAIT_SECONDS", 0.05)
    token = tokens_at(8, OffsetSeal(ONE, None)).current().decode()
    assert re.fullmatch(r"~[0-9a-f]{48}:[0-9]{16}", token)
    there, behind = tokens_at(8, OffsetSeal(ONE, None)), tokens_at(7, OffsetSeal(ONE, None))
    assert (there.is_met(token), behind.is_met(token)) == (True, False)
    asyncio.run(there.wait(token, may_know_offsets=False))
    with pytest.raises(ApiError) as raised:
        asyncio.run(behind.wait(token, may_know_offsets=False))
    assert raised.value.body()["message"] == (
        "This node has not read the log up to the offset of the token within 0 s. Ask again, or ask another node."
    )
    # A node of an older release, or with another secret, takes it for the token of another log.
    for tokens in (tokens_at(7, None), tokens_at(7, OffsetSeal(OTHER, None))):
        assert tokens.is_met(token)


def test_the_end_of_the_log_cannot_be_found_by_waiting_for_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offset_tokens, "WAIT_SECONDS", 0.05)
    tokens = tokens_at(7, OffsetSeal(ONE, None))
    for guess in ("log:7", "log:8", "log:999"):
        assert not tokens.is_met(guess)
        asyncio.run(tokens.wait(guess, may_know_offsets=False))
    asyncio.run(tokens.wait("log:7"))
    with pytest.raises(ApiError):
        asyncio.run(tokens.wait("log:8"))


def test_the_name_of_an_offset_is_always_the_same_and_can_be_opened() -> None:
    names = [OffsetSeal(ONE, None).seal_alike(offset) for offset in (-1, 0, 1, 7, 2**40)]
    assert names == [OffsetSeal(ONE, OTHER).seal_alike(offset) for offset in (-1, 0, 1, 7, 2**40)]
    assert len({name[:16] for name in names}) == 5
    assert [OffsetSeal(OTHER, ONE).open(name) for name in names] == [-1, 0, 1, 7, 2**40]
    assert OffsetSeal(OTHER, None).seal_alike(7) != OffsetSeal(ONE, None).seal_alike(7)


def test_a_cursor_stays_while_its_reader_sees_the_same() -> None:
    steady = SteadyCursors(most=2)
    given = [
        steady.of(*asked) for asked in (("a", b"1", 1), ("a", b"1", 2), ("a", b"2", 3), ("b", b"2", 4), ("a", b"2", 5))
    ]
    assert given == [1, 1, 3, 4, 3]
    assert [steady.of("c", b"", 6), steady.of("b", b"2", 7)] == [6, 7]
