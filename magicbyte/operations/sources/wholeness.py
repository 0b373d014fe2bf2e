"""Whether what was read is the whole registry: a part alone is refused, unless the user asks for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from magicbyte.operations.failures import Withheld

_HIDDEN = (
    "some subjects, or their settings, are hidden from the user, who needs READ and DESCRIBE_CONFIGS of every SUBJECT, "
    "and DESCRIBE_CONFIGS of the REGISTRY"
)
_NO_CONTEXTS = (
    "the highest ids of some contexts are hidden from the user, so a copy might give ids again that were given before: "
    "they take DESCRIBE_CONFIGS of every SUBJECT, and DESCRIBE and DESCRIBE_CONFIGS of the REGISTRY"
)

_NO_HEADERS: Mapping[str, str] = MappingProxyType({})
#: The advice of commands that have `--partial`.
PARTIAL = "With --partial, what it shows counts"


def notes_of(manifest: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the facts that an export or a backup could not tell by its manifest, each a sentence."""
    notes = manifest.get("notes")
    return tuple(map(str, notes)) if isinstance(notes, list) else ()


def withheld_by(manifest: Mapping[str, Any], headers: Mapping[str, str] = _NO_HEADERS) -> tuple[str, ...]:
    """Return the parts that an export or a backup lacks by its manifest, each a sentence.

    Args:
        manifest: The first line.
        headers: The headers of the answer with the export, with names in lower case.
    """
    told = manifest.get("withheld")
    if isinstance(told, list) and told:
        return tuple(map(str, told))
    # Release 0.2.0 says only in the header that subjects are hidden.
    is_partial = manifest.get("partial") or headers.get("magicbyte-complete") == "false"
    is_hiding = is_partial or manifest.get("lacksSettings")
    return (*((_HIDDEN,) if is_hiding else ()), *((_NO_CONTEXTS,) if manifest.get("lacksContexts") else ()))


def withheld_in(withheld: Sequence[str]) -> Mapping[str, object]:
    """The parts of a manifest that say what the file lacks; `withheld_by` gives them back."""
    # An import warns of the second one.
    return {"partial": True, "lacksContexts": True, "withheld": list(withheld)} if withheld else {}


def require_whole(
    name: str, withheld: Sequence[str], outcome: str, *, partial: bool = False, advice: str = PARTIAL
) -> None:
    """Refuse a part of a registry where the whole one is needed.

    Args:
        name: What was read.
        withheld: What it did not show, each a sentence; see `Reading`.
        outcome: What was not done, such as "nothing was written".
        partial: Accept it, because the user has said `--partial`.
        advice: What else the user can do; empty for nothing.

    Raises:
        Withheld: It did not show everything.
    """
    if withheld and not partial:
        told = "; ".join(withheld)
        raise Withheld(f"{name} does not show everything, and {outcome}: {told}{advice and '. '}{advice}")
