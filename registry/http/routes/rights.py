"""The route /rights: what the sender may do."""

from __future__ import annotations

from collections.abc import Sequence

from magicbyte.http.routing.request import Request
from magicbyte.http.routing.response import Json
from magicbyte.security.rights.rule import OPERATIONS
from registry import errors
from registry.access.rights import Rights
from registry.http import models
from registry.http.answers import answer
from registry.http.parameters import RightsSubjects
from registry.http.request import context_of_request, registry_of, rights_of, subject_in_context
from registry.state.model import DEFAULT_CONTEXT, SubjectName
from registry.state.resolve import resolve_alias, settings_key

_MOST_SUBJECTS = 100
_OF_SUBJECT, _OF_REGISTRY = OPERATIONS["SUBJECT"], OPERATIONS["REGISTRY"]
_OF_SETTINGS = ("DESCRIBE_CONFIGS", "ALTER_CONFIGS")


async def get_rights(request: Request, *, subjects: RightsSubjects = ()) -> Json[models.Rights]:
    """Extension: the operations that the access rules allow the sender, so that a client need not try them.

    Without access rules, all operations are allowed. Rules are about names: the answer does not tell whether a subject
    exists.
    """
    if len(subjects) > _MOST_SUBJECTS:
        raise errors.INVALID_PARAMETER(detail=f"at most {_MOST_SUBJECTS} subjects, not {len(subjects)}")
    context, rights = context_of_request(request), rights_of(request)
    of_context = None if context == DEFAULT_CONTEXT else str(SubjectName(context, ""))
    return answer(
        request,
        {
            "subjects": {name: _on_subject(request, rights, name) for name in subjects},
            "someSubject": [name for name in _OF_SUBJECT if rights is None or rights.may_some(name)],
            "settings": _allowed(rights, _OF_SETTINGS, of_context),
            "registry": _allowed(rights, _OF_REGISTRY, None),
        },
    )


def _on_subject(request: Request, rights: Rights | None, name: str) -> list[str]:
    """The operations on a subject. Settings are those of an alias itself; all else concerns what it leads to.

    Raises:
        ApiError: 42208.
    """
    asked = subject_in_context(request, name)
    target, own_settings = resolve_alias(registry_of(request).view, asked), settings_key(asked)
    return [
        operation
        for operation in _OF_SUBJECT
        if _allowed(rights, (operation,), own_settings if operation in _OF_SETTINGS else target)
    ]


def _allowed(rights: Rights | None, operations: Sequence[str], subject: str | None) -> list[str]:
    return [operation for operation in operations if rights is None or rights.may(operation, subject)]
