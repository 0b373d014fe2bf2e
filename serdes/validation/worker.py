"""A process that validates values: `python -m serdes.validation.worker FD`."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import orjson

from magicbyte.kit.processes.worker_pool import Ask, serve
from serdes.json_bytes import loads
from serdes.validation.described import DescribedSchema, unpacked
from serdes.validation.judging import ACCEPTED, COMPILE, INVALID, REFUSED, UNKNOWN

if TYPE_CHECKING:
    import jsonschema_rs

_DIGEST_BYTES = 16
#: The memory limit of a worker, in bytes.
_MEMORY_BYTES = 512 << 20
#: The most schemas that a worker keeps.
_KEPT = 64
#: A lower priority than the program's, whose own work comes first.
_NICENESS = 10


class _Compiled(NamedTuple):
    schema: DescribedSchema
    validator: jsonschema_rs.Validator


#: The schemas by digest; the most recently used is last.
_compiled: OrderedDict[bytes, _Compiled] = OrderedDict()


def main() -> None:
    """Validate values until the program closes the connection."""
    os.nice(_NICENESS)
    # Output of libraries and crash messages must not appear in the program's log.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    serve(_answer, memory_bytes=_MEMORY_BYTES)


def _answer(request: bytes, _ask: Ask) -> Iterator[bytes]:
    kind, digest, content = request[:1], request[1 : _DIGEST_BYTES + 1], request[_DIGEST_BYTES + 1 :]
    if kind == COMPILE:
        yield _compile(digest, content)
    elif digest not in _compiled:
        yield UNKNOWN
    else:
        _compiled.move_to_end(digest)
        schema, validator = _compiled[digest]
        value = loads(content.decode())
        if validator.is_valid(value):
            yield ACCEPTED
        else:
            yield REFUSED
            refusal = schema.explain(value, len(content))
            yield orjson.dumps([refusal.path, refusal.keyword, refusal.reason])


def _compile(digest: bytes, packed: bytes) -> bytes:
    schema = unpacked(packed)
    try:
        _compiled[digest] = _Compiled(schema, schema.compile())
    except ValueError as error:
        return INVALID + str(error).encode()
    if len(_compiled) > _KEPT:
        _compiled.popitem(last=False)
    return ACCEPTED


if __name__ == "__main__":
    main()
