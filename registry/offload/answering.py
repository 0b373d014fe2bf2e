"""Has the questions of decisions answered by child processes, so that only those who asked wait for the answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from msgspec.structs import replace

from compat.budget import MAX_STEPS
from compat.schema import InvalidSchema, SchemaText
from magicbyte.job_pool import JobDied, JobPool, JobTimeout, PoolBusy
from magicbyte.kit.errors import ApiError
from registry import errors
from registry.decide import Answered, Question
from registry.offload.jobs import (
    COMPARING_SECONDS,
    Answer,
    Done,
    FindSpelledOut,
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
from registry.state.view import View
from registry.tags import UnknownEntity

#: How long a child may take for a job, in seconds: at least, and for each million bytes of it.
_JOB_SECONDS = 6.0
_SECONDS_A_MILLION = 6.0
_RETRY_SECONDS = 1


@dataclass(slots=True)
class WorkLeft:
    """How much work a request may still have done to compare and explain schemas."""

    steps: int = MAX_STEPS
    seconds: float = COMPARING_SECONDS


class Answering:
    """Child processes that answer questions, and a thread that writes the questions down for them."""

    def __init__(self) -> None:
        self._pool = JobPool("registry.offload.child")
        # What a schema refers to may be ten thousand texts.
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="questions")

    async def close(self) -> None:
        """End the processes."""
        self._writer.shutdown(wait=False, cancel_futures=True)
        await self._pool.close()

    async def answer(self, view: View, questions: Sequence[Question], left: WorkLeft) -> Answered:
        """The questions with their answers, or with the errors that they come to.

        Args:
            view: Where references lead.
            questions: What is to be found out.
            left: What comparing and explaining is taken from.

        Raises:
            ApiError: 503 if all processes have work.
        """
        return tuple([(question, await self._answer(view, question, left)) for question in questions])

    async def names(self, schemas: Sequence[SchemaText]) -> tuple[Names, ...]:
        """The names in stored texts, in order; those of texts that take too long to read are none.

        Raises:
            ApiError: 503 if all processes have work.
        """
        reply = (await self._ask(lambda: encode(Listing(tuple(schemas))))).reply
        if isinstance(reply, NamesFound):
            return reply.names
        if len(schemas) == 1:
            return (Names(),)
        # One of them took too long, or the machine was busy.
        middle = len(schemas) // 2
        return (*await self.names(schemas[:middle]), *await self.names(schemas[middle:]))

    async def _answer(self, view: View, question: Question, left: WorkLeft) -> Answer | Exception:
        try:
            done = await self._ask(lambda: encode(replace(question.job(view), steps=left.steps, seconds=left.seconds)))
        except InvalidSchema as error:
            return error
        reply = done.reply
        if _compares(question):
            left.steps, left.seconds = done.steps, done.seconds
        if isinstance(reply, Invalid):
            return InvalidSchema(reply.schema_type, reply.detail)
        if isinstance(reply, Unknown):
            return UnknownEntity(reply.detail)
        if isinstance(reply, TooMuch):
            return _too_much(question)
        assert not isinstance(reply, NamesFound)
        return reply

    async def _ask(self, write: Callable[[], bytes]) -> Done:
        job = await asyncio.get_running_loop().run_in_executor(self._writer, write)
        try:
            answer = await self._pool.run(job, seconds=_JOB_SECONDS + _SECONDS_A_MILLION * len(job) / 1e6)
        except PoolBusy:
            raise errors.BUSY().with_headers(Retry_After=str(_RETRY_SECONDS)) from None
        except (JobTimeout, JobDied):
            return Done(TooMuch())
        return decode_done(answer)


def _compares(question: Question) -> bool:
    return isinstance(question.task, Judge | FindSpelledOut)


def _too_much(question: Question) -> ApiError:
    return (errors.TOO_LARGE_TO_COMPARE if _compares(question) else errors.TOO_LARGE_TO_READ)()
