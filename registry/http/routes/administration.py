"""Routes under /admin: what operators do with a running cluster."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

from magicbyte.http.routing.request import Request
from magicbyte.http.routing.response import Json
from magicbyte.kit.errors import ApiError
from registry import errors
from registry.cluster.step_down_refused import Refusal, StepDownRefused
from registry.http import models
from registry.http.answers import answer
from registry.http.request import registry_of
from registry.log.port import LogError
from registry.service import Registry

log = logging.getLogger("magicbyte.registry.administration")

_UNANSWERED = "The cluster does not answer"


async def step_down(request: Request) -> Json[models.SteppedDown]:
    """Extension: the leader gives up the lead, and answers when another node leads.

    Its pending writes are finished; new ones wait until the other node takes them. The node does not lead again for
    five seconds. Send the request to the leader: another node answers 409 with 40911 and names it.
    """
    registry = registry_of(request)
    try:
        url = await registry.step_down()
    except StepDownRefused as error:
        raise _REFUSALS[error.refusal](registry, error) from None
    except LogError as error:
        log.warning("the node cannot step down: %s", error, extra={"event": "step_down_failed", "error": str(error)})
        raise errors.STILL_LEADS(reason=_UNANSWERED) from None
    return answer(request, {"leaderUrl": url})


def _not_the_leader(_registry: Registry, error: StepDownRefused) -> ApiError:
    url = error.url
    leader = "no node leads now; wait until one does" if url is None else f"{url} does; send the request there"
    return errors.NOT_THE_LEADER(leader=leader)


def _no_election(registry: Registry, _error: StepDownRefused) -> ApiError:
    return errors.NO_ELECTION(storage=registry.settings.storage.partition(":")[0])


def _no_successor(registry: Registry, _error: StepDownRefused) -> ApiError:
    return errors.NO_SUCCESSOR(group=registry.settings.group_id)


def _silent_member(_registry: Registry, error: StepDownRefused) -> ApiError:
    return errors.SILENT_MEMBER(url=error.url)


def _not_finished(_registry: Registry, _error: StepDownRefused) -> ApiError:
    return errors.STILL_LEADS(reason="The pending writes were not finished in time")


def _not_taken(_registry: Registry, _error: StepDownRefused) -> ApiError:
    return errors.STILL_LEADS(reason="No other node took the lead in time")


_REFUSALS: Mapping[Refusal, Callable[[Registry, StepDownRefused], ApiError]] = {
    Refusal.NOT_THE_LEADER: _not_the_leader,
    Refusal.NO_ELECTION: _no_election,
    Refusal.NO_SUCCESSOR: _no_successor,
    Refusal.SILENT_MEMBER: _silent_member,
    Refusal.NOT_FINISHED: _not_finished,
    Refusal.NOT_TAKEN: _not_taken,
}
