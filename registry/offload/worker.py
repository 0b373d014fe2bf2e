"""The worker process that does jobs for a registry: `python -m registry.offload.worker FD`."""

from __future__ import annotations

import gc
import logging
import os

from compat.budget import Budget, TooMuchWork
from compat.schema import InvalidSchema
from magicbyte.kit.processes.worker_pool import serve
from registry.offload.jobs import Done, Invalid, Job, Listing, Reply, TooMuch, Unknown, decode_job, encode
from registry.offload.parsing import Parser
from registry.offload.perform import find_names, perform
from registry.tags import UnknownEntity

#: The total length of the cached texts in each of the parser's three classes; their parses take about 64 MB.
_MOST_CHARACTERS = 4_000_000
_REMEMBERED = 5_000
#: A lower priority than that of the server and of its hashes of passwords: sign-ins do not wait for large schemas.
_NICENESS = 15
#: The memory of a worker, in bytes.
_MOST_MEMORY = 1536 << 20
#: How many new objects start a search for cycles.
_OBJECTS_A_COLLECTION = 100_000


def main() -> None:
    """Do jobs until the registry ends."""
    logging.basicConfig()
    os.nice(_NICENESS)
    parse = Parser(_REMEMBERED, most_characters=_MOST_CHARACTERS)
    # As in the server: a job's objects are freed without the collector or stay cached, so cycles are searched rarely.
    gc.freeze()
    gc.set_threshold(_OBJECTS_A_COLLECTION)
    serve(lambda raw, _ask: [encode(_do(raw, parse))], memory_bytes=_MOST_MEMORY)


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
        return Invalid(error.schema_type, error.detail, error.position)
    except UnknownEntity as error:
        return Unknown(str(error))
    except TooMuchWork:
        return TooMuch()


if __name__ == "__main__":
    main()
