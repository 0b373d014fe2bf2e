"""Sign-in while it is attacked, and while users come and go."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import statistics
import sys
import threading
import time
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import httpx
import pytest

from magicbyte.kit.failure import Failure
from magicbyte.platform.server_process import ServerProcess
from magicbyte.security.principal import Peer, Principal, Refusal
from magicbyte.security.rights.authorizer import Authorizer
from magicbyte.security.sign_in.authenticator import Authenticator
from magicbyte.security.sign_in.password_hash import hash_key, hash_password
from magicbyte.security.sign_in.settings import SignInSettings
from tests.processes import resident_bytes

Start = Callable[..., ServerProcess]
CLIENTS = 8
ATTEMPTS, ATTACKERS = 400, 8


def write(path: Path, text: str) -> Path:
    part = path.with_suffix(".part")
    part.write_text(text)
    part.chmod(0o600)
    return part.replace(path)


@contextmanager
def authenticator_of(users: Path, **more: str) -> Iterator[Authenticator]:
    properties = {
        "authentication.method": "BASIC",
        "magicbyte.users.file": str(users),
        "magicbyte.authentication.failures.per.minute": "60000000",
        **{name.replace("__", "."): value for name, value in more.items()},
    }
    authenticator = Authenticator(SignInSettings.from_properties(properties), realm="r")
    yield authenticator
    authenticator.close()


def basic(name: str, secret: str) -> list[tuple[bytes, bytes]]:
    return [(b"authorization", b"Basic " + b64encode(f"{name}:{secret}".encode()))]


async def answer(authenticator: Authenticator, name: str, secret: str, address: str = "10.0.0.1") -> str:
    """The principal, or the status of the refusal, as a server finds it out."""
    headers, peer = basic(name, secret), Peer(address)
    outcome: Principal | Refusal | None = authenticator.recall(headers, peer)
    if outcome is None:
        outcome = await authenticator.authenticate(headers, peer)
    return outcome.name if isinstance(outcome, Principal) else str(outcome.status)


@pytest.mark.parametrize("replacements", [40, pytest.param(1000, marks=pytest.mark.slow)])
def test_users_are_replaced_while_clients_sign_in(tmp_path: Path, replacements: int) -> None:
    """Each answer is right by the old users or by the new ones, and after a reload by the new ones."""
    keys = {name: hash_key(name) for name in ("old", "new", "carol")}
    versions = [
        f"alice:{keys['old']}\ncarol:{keys['carol']}\n",
        f"alice:{keys['new']}\ncarol:{keys['carol']}\nbob:{keys['new']}\n",
    ]
    users = write(tmp_path / "users", versions[0])
    seen = Counter[tuple[str, str]]()
    kept = 0

    async def replace_and_ask(authenticator: Authenticator) -> None:
        nonlocal kept
        done = asyncio.Event()

        async def ask() -> None:
            while not done.is_set():
                for name, secret in (("alice", "old"), ("alice", "new"), ("bob", "new"), ("carol", "carol")):
                    seen[f"{name}:{secret}", await answer(authenticator, name, secret)] += 1
                # The thread that reloads needs the interpreter too.
                await asyncio.sleep(0.002)

        clients = [asyncio.create_task(ask()) for _ in range(CLIENTS)]
        for number in range(1, replacements + 1):
            text = versions[number % 2]
            if number % 10 == 0:
                # Cut anywhere, the file is wrong, or it lacks somebody: what is wrong changes nothing.
                write(users, text + text[: number % 40 + 10])
                with pytest.raises(Failure):
                    await asyncio.to_thread(authenticator.reload)
                kept += 1
                continue
            write(users, text)
            await asyncio.to_thread(authenticator.reload)
            right, wrong = ("new", "old") if number % 2 else ("old", "new")
            assert await answer(authenticator, "alice", right) == "User:alice"
            assert await answer(authenticator, "alice", wrong) == "401"
            assert await answer(authenticator, "bob", "new") == ("User:bob" if number % 2 else "401")
        done.set()
        await asyncio.gather(*clients)

    with authenticator_of(users, magicbyte__authentication__failure__ms="0") as authenticator:
        asyncio.run(replace_and_ask(authenticator))
    assert kept == replacements // 10
    assert {outcome for (who, outcome) in seen if who == "carol:carol"} == {"User:carol"}
    assert set(seen) <= {
        *((who, "User:alice") for who in ("alice:old", "alice:new")),
        *((who, "401") for who in ("alice:old", "alice:new", "bob:new")),
        ("bob:new", "User:bob"),
        ("carol:carol", "User:carol"),
    }
    print(f"{replacements} replacements, {kept} of them wrong files, {seen.total()} sign-ins of {CLIENTS} clients")


@pytest.mark.parametrize("content", ["", "alice", "alice:", "alice:$argon2id$v=19$m=19456", "\0", "al\xffice:x"])
def test_a_truncated_users_file_changes_nothing(tmp_path: Path, content: str) -> None:
    users = write(tmp_path / "users", f"alice:{hash_key('s')}\n")
    with authenticator_of(users) as authenticator:
        users.write_bytes(content.encode("latin-1"))
        with pytest.raises(Failure, match=r"users"):
            authenticator.reload()
        assert asyncio.run(answer(authenticator, "alice", "s")) == "User:alice"
        write(users, "# nobody\n")
        authenticator.reload()
        assert asyncio.run(answer(authenticator, "alice", "s")) == "401"


@pytest.mark.parametrize("content", ["", "deny", "deny User:* ALL SUBJ"])
def test_a_truncated_file_of_rules_changes_nothing(tmp_path: Path, content: str) -> None:
    rules = write(tmp_path / "rules", "allow User:* ALL SUBJECT LITERAL *\ndeny User:* ALL SUBJECT LITERAL sealed\n")
    authorizer = Authorizer(frozenset(("User:admin",)), rules)
    rules.write_text(content)
    with pytest.raises(Failure, match=r"rules"):
        authorizer.reload()
    for subject, is_allowed in (("open", True), ("sealed", False)):
        decision = authorizer.rules.decide(Principal("User:a"), "10.0.0.1", "READ", "SUBJECT", subject)
        assert decision.is_allowed is is_allowed


def test_the_time_of_a_failure_tells_nothing_of_the_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each failure plans to answer 10 s after it came, which is longer than any hash takes; the test does not wait."""
    lines = (
        f"password:{hash_password('right')}",
        f"key:{hash_key('right')}",
        f"disabled:{hash_password('right')}:disabled=true",
    )
    users = write(tmp_path / "users", "".join(f"{line}\n" for line in lines))
    times: dict[str, list[float]] = {name: [] for name in ("password", "key", "disabled", "unknown")}
    ends: list[float] = []
    sleep = asyncio.sleep

    async def plan(seconds: float) -> None:
        if seconds > 5:
            ends.append(time.monotonic() + seconds)
        else:
            await sleep(seconds)

    async def measure(authenticator: Authenticator) -> None:
        for number in range(11):
            for name, planned in times.items():
                started = time.monotonic()
                assert await answer(authenticator, name, f"wrong{number}", f"10.0.0.{number}") == "401"
                planned.append(ends.pop() - started)
                assert not ends

    monkeypatch.setattr(asyncio, "sleep", plan)
    with authenticator_of(users, magicbyte__authentication__failure__ms="10000") as authenticator:
        asyncio.run(measure(authenticator))
    medians = {name: statistics.median(planned) for name, planned in times.items()}
    assert min(medians.values()) >= 10
    assert max(medians.values()) <= 10.1


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux gives each thread a niceness")
def test_slow_hashes_are_computed_by_one_thread_that_steps_back(tmp_path: Path) -> None:
    users = write(tmp_path / "users", f"alice:{hash_password('right')}\n")
    before = set(threading.enumerate())
    with authenticator_of(users) as authenticator:

        async def sign_in() -> list[str]:
            return await asyncio.gather(*(answer(authenticator, "alice", f"wrong{n}") for n in range(4)))

        assert asyncio.run(sign_in()) == ["401"] * 4
        started = set(threading.enumerate()) - before
        hashing = [thread for thread in started if thread.name.startswith("password-hash")]
        niceness = [os.getpriority(os.PRIO_PROCESS, thread.native_id or 0) for thread in hashing]
        server = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
        assert niceness == [min(19, server + 10)]


def percentile(samples: list[float], share: float) -> float:
    return sorted(samples)[int(len(samples) * share)] * 1000


@pytest.mark.slow
def test_hundreds_of_wrong_passwords_do_not_delay_signed_in_clients(start_either: Start, tmp_path: Path) -> None:
    users = write(tmp_path / "users", f"alice:{hash_password('wonderland')}\n")
    server = start_either(
        {
            "authentication.method": "BASIC",
            "magicbyte.authorization": "none",
            "magicbyte.users.file": str(users),
            # So that hardly any try becomes free, however long the attacks take.
            "magicbyte.authentication.failures.per.minute": "1",
        }
    )

    def memory_mb() -> float:
        return resident_bytes(server.pid) / 1e6

    with (
        httpx.Client(base_url=server.url, auth=("alice", "wonderland"), timeout=60) as alice,
        ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as attackers,
    ):
        attackers.submit(sum, (1, 1)).result()  # started

        def latencies(until: Callable[[], bool], least: int = 500) -> list[float]:
            taken: list[float] = []
            while not until() or len(taken) < least:
                started = time.perf_counter()
                assert alice.get("/").status_code == 200
                taken.append(time.perf_counter() - started)
            return taken

        alone = latencies(lambda: True, 1000)
        before, memory = memory_mb(), []
        for _ in range(4):
            # In a process of their own: threads here would take the interpreter from the one that measures.
            attack = attackers.submit(guess_all, server.url)
            meanwhile = latencies(attack.done)
            statuses = attack.result()
            memory.append(memory_mb())
            # Before and after, since the load of the machine may change.
            alone = max(alone, latencies(lambda: True, 1000), key=lambda taken: percentile(taken, 0.99))
            print(
                f"{statuses.total()} wrong passwords: {dict(statuses)}, memory {memory[-1]:.1f} MB;"
                f" signed in p50 {percentile(alone, 0.5):.2f} -> {percentile(meanwhile, 0.5):.2f} ms,"
                f" p99 {percentile(alone, 0.99):.2f} -> {percentile(meanwhile, 0.99):.2f} ms"
            )
            assert set(statuses) <= {401, 429, 503}
            assert statuses[429] > 0.9 * ATTEMPTS
            # One hash at a time takes its part of a processor, at a lower priority, and nothing waits for it.
            assert percentile(meanwhile, 0.99) < 50 + 10 * percentile(alone, 0.99)
    # A hash takes 20 MB. One is computed at a time, but the allocator keeps the memory of two or three.
    assert max(memory) < before + 4 * 20
    # Some tries may have become free meanwhile. A password that has failed is remembered, and takes none.
    tries = (httpx.get(server.url, auth=("alice", f"once more, {number}")) for number in range(30))
    refused = next(answer for answer in tries if answer.status_code != 401)
    assert (refused.status_code, refused.json()["message"]) == (429, "Too many failed authentications")
    assert int(refused.headers["retry-after"]) >= 1


def guess_all(url: str) -> Counter[int]:
    """Send wrong passwords from several clients; returns how many answers had each status."""
    with ThreadPoolExecutor(ATTACKERS) as clients:
        return sum(clients.map(partial(guess, url), range(ATTACKERS)), Counter[int]())


def guess(url: str, attacker: int) -> Counter[int]:
    statuses = Counter[int]()
    with httpx.Client(base_url=url, timeout=60) as client:
        for number in range(ATTEMPTS // ATTACKERS):
            name = "alice" if number % 2 else f"user{attacker}-{number}"
            statuses[client.get("/", auth=(name, f"guess-{attacker}-{number}")).status_code] += 1
    return statuses
