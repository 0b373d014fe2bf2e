"""Facts in the log lines of Kafka's clients: an unreachable broker with the cause, and repetitions of a line."""

from __future__ import annotations

import re
from typing import NamedTuple

#: A broker's address, with librdkafka's number for it, and why a client has no connection to it.
_AT_BROKER = re.compile(
    r"(?P<address>(?:\[[0-9A-Fa-f:.%]+\]|[\w.-]+):\d+)(?:/(?:bootstrap|-?\d+))?: (?P<event>(?:Connect to |Connection "
    r"|Failed to resolve|Disconnected|SSL handshake|SASL authentication|Authentication|\[Errno |\[SSL).+)"
)
#: librdkafka adds how long the state lasted, and how many lines it left out itself.
_AFTER = re.compile(r" \(after \d+ms in state .*\)$")
_CONNECT = re.compile(r"^(?:Connect to \S+ failed: |\[Errno -?\d+\] |\[SSL\S*\] )+")
#: Parts of a line that differ each time: the client's name and thread, times, and counts.
_CHANGING = re.compile(r"\[rdkafka#\S+\] |\[thrd:[^\]]*\]: |\d+ms|\b\d+/\d+(?= brokers)|\b\d+(?= request\(s\))")


class NoConnection(NamedTuple):
    """A broker that cannot be reached, and why."""

    address: str
    cause: str


def no_connection(line: str) -> NoConnection | None:
    """The broker that a line is about and the cause; None if the line is about something else."""
    match = _AT_BROKER.search(line)
    if match is None:
        return None
    return NoConnection(match["address"], _CONNECT.sub("", _AFTER.sub("", match["event"])))


def kind_of(line: str) -> str:
    """A line without the parts that differ each time."""
    return _CHANGING.sub("", _AFTER.sub("", line))
