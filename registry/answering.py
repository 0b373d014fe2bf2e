"""Answering the questions of decisions in worker processes, so that only the request that asked waits."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from msgspec.structs import replace

from compat.budget import MAX_STEPS
from compat.schema import InvalidSchema, SchemaText
from magicbyte.kit.errors import ApiError
from magicbyte.kit.processes.async_worker_pool import AsyncWorkerPool
from magicbyte.kit.processes.worker_pool import PoolBusy, WorkerFailed, WorkerOutOfCpu, WorkerTimeout
from registry import errors, metrics
from registry.decide import Answered, Question
from registry.decide.question import count_comparison
from registry.offload.jobs import (
    COMPARING_SECONDS,
    Answer,
    Canonicalize,
    CheckRules,
    CompareOutlines,
    Done,
    FindSame,
    Invalid,
    Judge,
    Listing,
    Names,
    NamesFound,
    TooMuch,
    Unknown,
    decode_done,
    encode,
)
from registry.offload.work_span import work_span
from registry.state.view import View
from registry.tags import UnknownEntity

#: The processor time of a job in seconds: a base, and an addition per million bytes of the job.
_JOB_SECONDS = 6.0
_SECONDS_A_MILLION = 6.0
#: How many times as long it may take on a busy machine: a worker has a low priority.
_BUSY_FACTOR = 5
_RETRY_SECONDS = 1


@dataclass(slots=True)
class WorkLeft:
    """The budget that a request still has for comparing and explaining schemas."""

    steps: int = MAX_STEPS
    seconds: float = COMPARING_SECONDS


class Answering:
    """Worker processes that answer questions, and a thread that encodes the questions."""

    def __init__(self) -> None:
        self._pool = AsyncWorkerPool("registry.offload.worker")
        # Encoding takes long if a schema refers to ten thousand texts.
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="questions")

    async def close(self) -> None:
        """End the processes."""
        self._writer.shutdown(wait=False, cancel_futures=True)
        await self._pool.close()

    async def answer(self, view: View, questions: Sequence[Question], work_left: WorkLeft, client: str) -> Answered:
        """Return the questions with their answers or errors.

        Args:
            view: The view that resolves references.
            questions: The questions.
            work_left: The work that the request has left; comparing and explaining reduce it.
            client: The client that asks; clients take turns.

        Raises:
            ApiError: 503 if all processes are busy.
        """
        return tuple([(question, await self._answer(view, question, work_left, client)) for question in questions])

    async def names(self, schemas: Sequence[SchemaText], client: str) -> tuple[Names, ...]:
        """The names in stored texts, in order; empty for a text that takes too long to read.

        Raises:
            ApiError: 503 if all processes are busy.
        """
        reply = (await self._ask(lambda: encode(Listing(tuple(schemas))), client)).reply
        if isinstance(reply, NamesFound):
            return reply.names
        if len(schemas) == 1:
            return (Names(),)
        # One text took too long, or the machine was busy: try the halves.
        middle = len(schemas) // 2
        return (*await self.names(schemas[:middle], client), *await self.names(schemas[middle:], client))

    async def _answer(self, view: View, question: Question, work_left: WorkLeft, client: str) -> Answer | Exception:
        if _compares(question) and not (work_left.steps and work_left.seconds):
            return _too_much(question)
        started = time.perf_counter()
        try:
            steps, seconds = work_left.steps, work_left.seconds
            with work_span(question.task, question.source.schema.schema_type, in_worker=True):
                done = await self._ask(
                    lambda: encode(replace(question.job(view), steps=steps, seconds=seconds)), client
                )
        except InvalidSchema as error:
            return error
        reply = done.reply
        taken = time.perf_counter() - started
        count_comparison(question, reply, taken)
        if isinstance(question.task, Canonicalize):
            metrics.PARSE_SECONDS.labels(question.source.schema.schema_type).observe(taken)
        if _compares(question):
            work_left.steps, work_left.seconds = done.steps, done.seconds
        if isinstance(reply, Invalid):
            return InvalidSchema(reply.schema_type, reply.detail, reply.position)
        if isinstance(reply, Unknown):
            return UnknownEntity(reply.detail)
        if isinstance(reply, TooMuch):
            return _too_much(question)
        assert not isinstance(reply, NamesFound)
        return reply

    async def _ask(self, write: Callable[[], bytes], client: str) -> Done:
        job = await asyncio.get_running_loop().run_in_executor(self._writer, write)
        try:
            seconds = _JOB_SECONDS + _SECONDS_A_MILLION * len(job) / 1e6
            answer = await self._pool.run(job, seconds=_BUSY_FACTOR * seconds, cpu_seconds=seconds, client=client)
        except PoolBusy:
            raise errors.BUSY().with_headers(Retry_After=str(_RETRY_SECONDS)) from None
        except WorkerFailed as failure:
            if isinstance(failure, WorkerTimeout) and not isinstance(failure, WorkerOutOfCpu):
                # The machine was busy: the schema may be as small as others.
                raise errors.BUSY().with_headers(Retry_After=str(_RETRY_SECONDS)) from None
            return Done(TooMuch())
        return decode_done(answer)


def _compares(question: Question) -> bool:
    return isinstance(question.task, Judge | FindSame | CompareOutlines)


def _too_much(question: Question) -> ApiError:
    if isinstance(question.task, CheckRules):
        return errors.TOO_LARGE_TO_CHECK()
    return (errors.TOO_LARGE_TO_COMPARE if _compares(question) else errors.TOO_LARGE_TO_READ)()
