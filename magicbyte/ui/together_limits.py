"""The limits of requests for several answers: what they hold in memory, and the connections that they need."""

from __future__ import annotations

#: How many such requests are answered at once, and how many more of clients that have none.
MOST_REQUESTS, RESERVE = 8, 8
#: The GETs of a request that are under way at once; each has an answer in memory.
GETS_AT_ONCE = 4
#: The largest answer; the client sends a GET with a larger one by itself, and gets it in parts.
LARGEST_ANSWER = 1 << 20
#: The most GETs that are under way at once.
MOST_GETS = (MOST_REQUESTS + RESERVE) * GETS_AT_ONCE
