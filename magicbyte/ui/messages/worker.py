"""The worker of the page's messages: `python -m magicbyte.ui.messages.worker FD BYTES`.

It decodes, encodes, makes examples, selects the records of a scan that fit a filter, and reads dead letters.

It has no credentials and no connection. Its client of the registry asks the server, which sends each GET as the sender
of the request. A client lives as long as its request, so nothing that one sender may read is kept for another one;
what the serdes cache is found by the whole text of a schema.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import orjson

from compat.schema import AVRO, JSON, PROTOBUF
from magicbyte.kit.processes.worker_pool import Ask, serve
from magicbyte.ui.messages.decode import decoded
from magicbyte.ui.messages.encode import encoded
from magicbyte.ui.messages.example import example
from magicbyte.ui.messages.exchange import Outcome, Question, Reply, Task, pack, unpack
from magicbyte.ui.messages.failure import ENDING, failure_of
from magicbyte.ui.messages.letter_request import ShowRequest, SortRequest
from magicbyte.ui.messages.letters import shown_letter, sorted_letters
from magicbyte.ui.messages.request import BadRequest, DecodeRequest, EncodeRequest, ExampleRequest, read
from magicbyte.ui.messages.scan_request import SelectRequest
from magicbyte.ui.messages.select import selected
from serdes.client.clients import RegistryClient, Retry
from serdes.client.requester import OFFSET_HEADER
from serdes.error import NotAuthorized, RegistryError, SerdesError
from serdes.text import text_form
from serdes.validation.judging import limit_judging

#: A lower priority than the server's.
_NICENESS = 5
#: A worker starts in about a second, so it stays for a while.
_IDLE_SECONDS = 600.0
#: A worker ends after an answer if it holds more than this part of its memory: caches must not fail later requests.
_MOST_KEPT = 1 / 4

#: The seconds that the values of a request may take in validators, which are processes of their own.
_VALIDATION_SECONDS = 4.0

#: Takes the client, the request, and the largest total size of the items.
Function = Callable[[RegistryClient, Any, int], bytes]

_FUNCTIONS: Mapping[str, tuple[type[Any], Function]] = {
    "decode": (DecodeRequest, decoded),
    "encode": (EncodeRequest, encoded),
    "select": (SelectRequest, selected),
    "letters": (SortRequest, sorted_letters),
    "letter": (ShowRequest, shown_letter),
    "example": (ExampleRequest, lambda client, request, _most_bytes: example(client, request)),
}


def main() -> None:
    """Answer requests until the server closes the connection."""
    most_memory = int(sys.argv[2])
    os.nice(_NICENESS)
    # Output of libraries and crash messages must not appear in the server's log.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    for schema_type in (AVRO, JSON, PROTOBUF):
        text_form(schema_type)  # imports its module now, and not within the first request

    def answer(message: bytes, ask: Ask) -> Iterator[bytes]:
        yield pack(_outcome(unpack(message, Task), ask))
        if _data_bytes() > most_memory * _MOST_KEPT:
            raise SystemExit

    serve(answer, memory_bytes=most_memory, idle_seconds=_IDLE_SECONDS)


class AskingTransport(httpx.BaseTransport):
    """Sends the requests of a client to the server as questions."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Ask the server and return its reply.

        Raises:
            httpx.RequestError: The request is no GET, or the registry does not answer.
        """
        if request.method != "GET":
            raise httpx.UnsupportedProtocol("only GET requests are asked for", request=request)
        target = request.url.raw_path.decode()
        question = Question(target, request.headers.get("accept", "*/*"), request.headers.get(OFFSET_HEADER))
        reply = unpack(self._ask(pack(question)), Reply)
        if not reply.status:
            raise httpx.ConnectError("the registry does not answer", request=request)
        headers = {} if reply.offset is None else {OFFSET_HEADER: reply.offset}
        return httpx.Response(reply.status, headers=headers, content=reply.body)


def _outcome(task: Task, ask: Ask) -> Outcome:
    kind, function = _FUNCTIONS[task.name]
    limit_judging(_VALIDATION_SECONDS)
    try:
        request = read(task.body, kind)
        with RegistryClient("http://registry", transport=AskingTransport(ask), retry=Retry(0)) as client:
            return Outcome(200, function(client, request, task.most_bytes))
    except BadRequest as error:
        return _refusal(400, 40001, error.detail)
    except NotAuthorized as error:
        return _refusal(error.status, error.code, error.message)
    except RegistryError as error:
        status = error.status if 400 <= error.status < 500 else 502
        return _refusal(status, error.code if error.code > 0 else status * 100 + 1, error.message)
    except SerdesError as error:
        return _refusal(422, 42201, failure_of(error).error)
    except ENDING:
        raise
    except Exception:  # noqa: BLE001  hostile bytes and schemas may raise anything
        text = "the messages cannot be converted with these schemas"
        return _refusal(422, 42201, text, trace=traceback.format_exc(limit=-20))


def _refusal(status: int, code: int, message: str, trace: str = "") -> Outcome:
    return Outcome(status, orjson.dumps({"error_code": code, "message": message}), trace)


def _data_bytes() -> int:
    """The memory that counts for the limit; 0 on systems that do not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[5])
    except (OSError, IndexError, ValueError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    main()
