"""Runs operations with credentials in shapes of their paths, and compares each answer with what the rules say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from magicbyte.http.routing.rows import Row
from tests.security.matrix.credentials import Credentials, Held
from tests.security.matrix.in_process import Answer, InProcess
from tests.security.matrix.shapes import COMMON, HEAD, Shape

UNAUTHORIZED = b'{"error_code":401,"message":"Unauthorized"}'
TWO_HEADERS = b'{"error_code":400,"message":"There is more than one Authorization header"}'
BASIC, BEARER = 'Basic realm="matrix", charset="UTF-8"', 'Bearer realm="matrix"'
_MOST_SHOWN = 20

Case = tuple[Row, Credentials, Shape]


@dataclass(frozen=True)
class Server:
    """The expectations of a server.

    Attributes:
        name: Its name.
        rows: Its operations.
        rules: Operation -> its rule; see `rules`.
        shapes: How paths are written.
        bodies: Operation -> the body of its requests.
        statuses: Operation -> what is answered to whoever may, when nothing of the name is there.
        odd: (operation, shape) -> what everybody who has signed in is answered, against the shape's own status.
        skipped: (operation, shape) that would change what other requests find.
        resource: The resource of one part of a rule: type, name in refusals, and whether it is inside; None if what
            is asked is not in the path.
        refusal: The `message` for an operation, a type and a name.
    """

    name: str
    rows: Sequence[Row]
    rules: Mapping[str, str]
    shapes: Sequence[Shape]
    bodies: Mapping[str, bytes]
    statuses: Mapping[str, int]
    odd: Mapping[tuple[str, str], int]
    skipped: frozenset[tuple[str, str]]
    resource: Callable[[Row, Shape, str], tuple[str, str, bool] | None]
    refusal: Callable[[str, str, str], str]


def pairwise(server: Server, credentials: Sequence[Credentials]) -> set[Case]:
    """Cases in which every two of operation, credentials and shape come together."""
    parts: tuple[Sequence[Any], ...] = (server.rows, credentials, server.shapes)
    cases = set[Case]()
    for left, right, rest in ((0, 1, 2), (0, 2, 1), (1, 2, 0)):
        for first, second in product(range(len(parts[left])), range(len(parts[right]))):
            chosen = {
                left: parts[left][first],
                right: parts[right][second],
                rest: parts[rest][(first + second) % len(parts[rest])],
            }
            cases.add((chosen[0], chosen[1], chosen[2]))
    return cases


def everything(server: Server, credentials: Sequence[Credentials]) -> Iterator[Case]:
    """Every operation with every credentials in every shape."""
    return product(server.rows, credentials, server.shapes)


def run(
    server: Server, client: InProcess, cases: Iterable[Case], state: Callable[[], object] = lambda: None
) -> Counter[int]:
    """Ask for each case, compare, and print how many answers had each status.

    Args:
        server: What to expect.
        client: Asks.
        cases: What to ask.
        state: A value that no refused request may change; nothing is compared without one.

    Returns:
        How many answers had each status.

    Raises:
        AssertionError: An answer is another; names the first of them.
    """
    counts, wrong = Counter[int](), list[str]()
    for row, credentials, shape in cases:
        if shape is HEAD and (row.method != "GET" or not row.is_safe or row.streams):
            continue
        expected = expected_of(server, row, credentials, shape)
        if expected is None:
            continue
        before = state()
        answer = ask(server, client, row, credentials, shape)
        counts[answer.status] += 1
        problem = difference(expected, answer)
        if problem is None and expected.is_refusal and state() != before:
            problem = "a refused request had an effect"
        if problem is not None:
            wrong.append(f"{row.operation_id}, {credentials.name}, {shape.name}: {problem}")
    print(f"{server.name}: {counts.total()} requests, {dict(sorted(counts.items()))}")
    assert not wrong, f"{len(wrong)} of {counts.total()}:\n" + "\n".join(wrong[:_MOST_SHOWN])
    return counts


def unheard(server: Server, client: InProcess, credentials: Sequence[Credentials]) -> set[str]:
    """The operations whose answer is withheld because the handler forgot to ask; the others answer 200."""
    [allowed] = [one for one in credentials if one.name == "everything"]
    answers = {row.operation_id: ask(server, client, row, allowed, COMMON[0]) for row in server.rows}
    assert {answer.status for answer in answers.values()} == {200, 500}
    withheld = {name: answer.body for name, answer in answers.items() if answer.status == 500}
    assert set(withheld.values()) == {b'{"error_code":500,"message":"Internal Server Error"}'}
    return set(withheld)


def ask(server: Server, client: InProcess, row: Row, credentials: Credentials, shape: Shape) -> Answer:
    return client.ask(
        shape.method or row.method,
        shape.path(row.path),
        credentials.headers,
        body=server.bodies.get(row.operation_id, b""),
        certificate=credentials.certificate,
        expires=credentials.expires,
    )


@dataclass(frozen=True)
class Expected:
    """An answer; None is for any."""

    status: int
    body: bytes | None = None
    challenges: Sequence[str] = ()
    is_refusal: bool = False


def expected_of(server: Server, row: Row, credentials: Credentials, shape: Shape) -> Expected | None:
    """The expected answer; None if the case is left out."""
    name = row.operation_id
    status = server.odd.get((name, shape.name), shape.status)
    if credentials.held is None and (server.rules[name] != "open" or status is not None):
        if credentials.status != 401:
            return Expected(credentials.status, TWO_HEADERS, is_refusal=True)
        bearer = f'{BEARER}, error="invalid_token"' if credentials.is_bearer else BEARER
        return Expected(401, UNAUTHORIZED, (BASIC, bearer), is_refusal=True)
    if status is not None:
        return Expected(status)
    refused = refusal_of(server, row, shape, credentials.held) if credentials.held is not None else None
    if refused is not None:
        return Expected(403, b'{"error_code":40301,"message":"%s"}' % refused.encode(), is_refusal=True)
    return None if (name, shape.name) in server.skipped else Expected(server.statuses[name])


def refusal_of(server: Server, row: Row, shape: Shape, held: Held) -> str | None:
    """The text of the refusal of a request; None if it is not refused by name."""
    rule = server.rules[row.operation_id]
    if rule in ("open", "auth"):
        return None
    for part in rule.split(" and "):
        if part.startswith(("filter ", "id ")):
            continue
        *operations, resource_type = part.replace(" or ", " ").split(" ")
        resource = server.resource(row, shape, resource_type)
        if resource is None:
            continue
        resource_type, asked, is_inside = resource
        if not any(held.may(operation, resource_type, is_inside=is_inside) for operation in operations):
            return server.refusal(operations[0], resource_type, asked)
    return None


def difference(expected: Expected, answer: Answer) -> str | None:
    """The difference between an answer and the expected one; None if there is none."""
    if answer.status != expected.status:
        return f"{answer.status} {answer.body[:120]!r} instead of {expected.status}"
    if expected.body is not None and answer.body != expected.body:
        return f"{answer.body!r} instead of {expected.body!r}"
    if tuple(answer.challenges) != tuple(expected.challenges):
        return f"the challenges {answer.challenges} instead of {expected.challenges}"
    return None
