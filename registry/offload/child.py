"""The child process that does jobs for a registry: `python -m registry.offload.child FD`."""

from __future__ import annotations

import logging

from compat.budget import Budget, TooMuchWork
from compat.schema import InvalidSchema
from magicbyte.job_pool import serve_jobs
from registry.offload.jobs import Done, Invalid, Job, Listing, Reply, TooMuch, Unknown, decode_job, encode
from registry.offload.parsing import Parser
from registry.offload.perform import find_names, perform
from registry.tags import UnknownEntity

#: The parser's limit per class of text length (three classes). A parse takes about 16 times its text, so about 64 MB.
_MOST_CHARACTERS = 4_000_000
_REMEMBERED = 5_000
#: The address space of a child, in bytes; the libraries take 200 MB of it.
_MOST_MEMORY = 1536 << 20


def main() -> None:
    """Do jobs until the registry ends."""
    logging.basicConfig()
    parse = Parser(_REMEMBERED, most_characters=_MOST_CHARACTERS)
    serve_jobs(lambda raw: encode(_do(raw, parse)), most_memory=_MOST_MEMORY)


def _do(raw: bytes, parse: Parser) -> Done:
    job = decode_job(raw)
    if isinstance(job, Listing):
        return Done(find_names(job))
    budget = Budget(job.steps, seconds=job.seconds)
    return Done(_reply(job, parse, budget), max(0, budget.steps_left), budget.seconds_left)


def _reply(job: Job, parse: Parser, budget: Budget) -> Reply:
    try:
        return perform(job, parse, budget)
    except InvalidSchema as error:
        return Invalid(error.schema_type, error.detail)
    except UnknownEntity as error:
        return Unknown(str(error))
    except TooMuchWork:
        return TooMuch()


if __name__ == "__main__":
    main()
