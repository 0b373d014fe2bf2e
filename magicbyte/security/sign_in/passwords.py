"""Verifies names with passwords: one slow hash at a time, in turns, and only so many failures."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from cachetools import LRUCache

from magicbyte.kit.sharing.fair_queue import FairQueue, NoTurn
from magicbyte.security.principal import Refusal
from magicbyte.security.sign_in.failures import FailureLimit
from magicbyte.security.sign_in.password_hash import PasswordHash, dummy_hash
from magicbyte.security.sign_in.users import User

#: How much nicer the thread that computes slow hashes is than the server: signed-in users are served first.
_NICER = 10
#: The longest wait for a turn, in seconds.
_WAIT_SECONDS = 10.0
_MAX_GOOD = 10_000
TOO_MANY_FAILURES = "Too many failed authentications"
_BUSY = Refusal(503, "Authentication is busy", retry_after=1)


class Passwords:
    """Verifies secrets of users; used on one event loop.

    One hash is computed at a time, so that other requests find a processor. Client networks take turns, and so do the
    users behind one network, so many wrong passwords delay nobody else by more than one hash for each other network
    and user.

    A network that has used up its failures gets 429 for any further failure. But a user behind it who has failed less
    often, or whose credentials were right before, can still sign in: a neighbour's failures lock nobody out. Neither
    the status nor the time of a failure tells whether the name exists: unknown names have one line together, and the
    failure of a known name waits until that line has come as far as an unknown name would have.
    """

    def __init__(self, failures: FailureLimit, failures_per_minute: int) -> None:
        """Start the thread.

        Args:
            failures: Counts the failures of each network.
            failures_per_minute: How many failures of one user from one network are refilled per minute.
        """
        self.dummy = dummy_hash()
        self._failures = failures
        #: The failures of each known user from each network.
        self._user_failures = FailureLimit(failures_per_minute)
        self._queue = FairQueue(1, wait_seconds=_WAIT_SECONDS)
        self._thread = ThreadPoolExecutor(1, "password-hash", initializer=_lower_priority)
        self._hash_seconds = 0.0
        #: Digest of credentials -> when they were last right, and whose they were.
        self._good: LRUCache[bytes, tuple[float, User]] = LRUCache(_MAX_GOOD)
        #: Credentials, network and user -> their verification in progress. Once the users have been loaded again,
        #: nobody shares a verification by the former hash.
        self._under_way: dict[tuple[bytes, str, int], asyncio.Task[bool | Refusal]] = {}

    def close(self) -> None:
        """Stop the thread."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def verify(self, user: User | None, secret: bytes, digest: bytes, network: str) -> bool | Refusal:
        """Tell whether a secret is a user's; equal credentials at the same time are verified once.

        Args:
            user: The user; None if the name is unknown, or may not sign in.
            secret: The secret.
            digest: A keyed digest of name and secret.
            network: The client's network.

        Returns:
            Whether it is, or the refusal to say so: too many failures, or no turn in time.
        """
        key = digest, network, id(user)
        task = self._under_way.get(key)
        if task is None:
            task = self._under_way[key] = asyncio.create_task(self._verify(user, secret, digest, network))
            task.add_done_callback(lambda _: self._under_way.pop(key, None))
        return await asyncio.shield(task)

    async def _verify(self, user: User | None, secret: bytes, digest: bytes, network: str) -> bool | Refusal:
        wait = self._failures.seconds_to_wait(network)
        if not wait:
            # Count the failure before it happens: of a thousand tries at once, only so many may be hashed.
            self._failures.count(network)
        matches: bool | None
        try:
            if user is None or (wait and not self._may_try(user, digest, network)):
                await self._pass(network, None if wait else secret)
                matches = False
            else:
                matches = await self._verify_user(user, secret, digest, network)
        except NoTurn:
            matches = None
        if matches is not False and not wait:
            self._failures.take_back(network)
        if matches is None:
            return _BUSY
        return Refusal(429, TOO_MANY_FAILURES, retry_after=wait) if wait and not matches else matches

    def _may_try(self, user: User, digest: bytes, network: str) -> bool:
        """Tell whether the user may try, although others behind the network have used up its failures."""
        # Nobody guesses the secret of a key, so keys have no limit.
        return (
            not user.hash.is_slow
            or digest in self._good
            or not self._user_failures.seconds_to_wait(_user_key(user, network))
        )

    async def _verify_user(self, user: User, secret: bytes, digest: bytes, network: str) -> bool:
        failing = asyncio.create_task(self._pass(network, None)) if len(self._queue) else None
        try:
            matches = await self._verify_in_turn(user, secret, digest, network)
            if failing is not None and not matches:
                await failing
            return matches
        finally:
            if failing is not None:
                failing.cancel()
                failing.add_done_callback(_forget)

    async def _verify_in_turn(self, user: User, secret: bytes, digest: bytes, network: str) -> bool:
        if not user.hash.is_slow:
            return user.hash.verify(secret)
        key, came, matches = _user_key(user, network), time.monotonic(), False
        self._user_failures.count(key)
        async with self._queue.turn(network, user.name):
            matches = self._was_right_since(came, user, digest) or await self._hash(user.hash, secret)
            if matches:
                self._user_failures.take_back(key)
                self._remember(user, digest)
            else:
                self._good.pop(digest, None)
        return matches

    async def _pass(self, network: str, secret: bytes | None) -> None:
        """Take the turn of an unknown name; without a secret it takes no processor, only the time."""
        async with self._queue.turn(network):
            if secret is not None:
                await self._hash(self.dummy, secret)
        if secret is None:
            await asyncio.sleep(self._hash_seconds)

    async def _hash(self, verifier: PasswordHash, secret: bytes) -> bool:
        started = time.monotonic()
        matches = await asyncio.get_running_loop().run_in_executor(self._thread, verifier.verify, secret)
        self._hash_seconds = time.monotonic() - started
        return matches

    def _was_right_since(self, came: float, user: User, digest: bytes) -> bool:
        """Tell whether another request with these credentials was verified while this one waited."""
        when, whose = self._good.get(digest, (0.0, None))
        return whose is user and when >= came

    def _remember(self, user: User, digest: bytes) -> None:
        self._good[digest] = time.monotonic(), user


def _forget(task: asyncio.Task[None]) -> None:
    """Retrieve the error of a task whose outcome no longer matters."""
    if not task.cancelled():
        task.exception()


def _user_key(user: User, network: str) -> str:
    return f"{network}\0{user.name}"


def _lower_priority() -> None:
    """Lower the priority of the calling thread; only Linux has a niceness for each thread."""
    if sys.platform == "linux":
        with suppress(OSError):
            thread = threading.get_native_id()
            os.setpriority(os.PRIO_PROCESS, thread, min(19, os.getpriority(os.PRIO_PROCESS, thread) + _NICER))
