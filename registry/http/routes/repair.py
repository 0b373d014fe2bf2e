"""The route /admin/repair: faults of the log that the leader repairs."""

from __future__ import annotations

from functools import partial

from magicbyte.http.routing.request import Request
from magicbyte.http.routing.response import Json
from registry.http import models
from registry.http.answers import answer
from registry.http.parameters import DryRun
from registry.http.parameters.bodies import RepairBody
from registry.http.request import registry_of, write_of
from registry.repair.finding import shown_bytes
from registry.repair.plan import REPAIRS, Plan, decide_repair


async def repair(request: Request, *, body: RepairBody, dry_run: DryRun = False) -> Json[models.RepairReport]:
    """Repair faults of the log, all or those of some codes; docs/fsck.md explains the codes.

    The leader reads its log, finds the faults and appends what repairs them, while no other write is decided. With
    `dryRun=true`, it answers the records and writes none. UNREADABLE and FOREIGN_KEYS have to be named. Send the
    request again while `left` is not 0. `magicbyte fsck --repair` makes a backup before.
    """
    codes = _codes(body)
    entries = registry_of(request).node.entries
    command = partial(decide_repair, entries=entries, codes=codes, dry_run=dry_run)
    plan: Plan = await registry_of(request).write(write_of(request), command)
    records = [
        {
            "code": step.finding.code,
            "offsets": list(step.finding.offsets),
            "key": shown_bytes(record.key),
            "tombstone": record.value is None,
        }
        for step in plan.steps
        for record in step.records
    ]
    return answer(request, {"records": records, "left": plan.left})


def _codes(body: models.RepairRequest) -> frozenset[str]:
    """The codes to repair."""
    named = body.get("codes")
    if named is None:
        return frozenset(code for code, repair in REPAIRS.items() if not repair.by_name_only)
    return frozenset(named)
