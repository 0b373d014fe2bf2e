"""A view of the registry with only the subjects that one principal may see."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from registry.state.model import Content, Version
from registry.state.view import View


class _PassedOn:
    """An attribute of the whole view, as it is."""

    def __set_name__(self, _owner: type, name: str) -> None:
        self._name = name

    def __get__(self, view: VisibleView | None, _owner: type) -> Any:
        return self if view is None else getattr(view.whole, self._name)


class _Refused:
    """An attribute of the whole view that readers with rights do not get."""

    def __set_name__(self, _owner: type, name: str) -> None:
        self._name = name

    def __get__(self, view: VisibleView | None, _owner: type) -> Any:
        if view is None:
            return self
        raise AttributeError(f"a view with hidden subjects has no `{self._name}`")


class VisibleView(View):
    """Reads another view and omits hidden subjects from lists.

    Each public attribute of `View` is decided here: it is defined anew, passed on, or refused. It has no tables of its
    own, so an inherited method that is not decided raises AttributeError instead of showing hidden subjects.
    `tests/registry/access/test_visible.py` names such a method.

    A look-up by name finds hidden subjects too: the sender's right to a subject was checked when it was named.
    """

    def __init__(self, view: View, may_see: Callable[[str], bool], may_read: Callable[[str], bool]) -> None:
        """Hide subjects of a view.

        Args:
            view: The whole view.
            may_see: Tells whether lists and look-ups by id or in other contexts show a subject.
            may_read: Tells whether a subject's references to others are listed.
        """
        self.whole, self._may_see, self._may_read = view, may_see, may_read

    # Lists and look-ups by something else than a name: without hidden subjects

    def may_see(self, subject: str) -> bool:
        """Tell whether a subject is visible."""
        return self._may_see(subject)

    def subjects(self) -> list[str]:
        """The visible subjects that have a version, in no order."""
        return [subject for subject in self.whole.subjects() if self._may_see(subject)]

    def with_id(self, context: str, schema_id: int) -> tuple[Version, ...]:
        """The versions with an id whose subjects are visible."""
        return tuple(version for version in self.whole.with_id(context, schema_id) if self._may_see(version.subject))

    def content_with_id(self, context: str, schema_id: int) -> Content | None:
        """The content with an id, if a visible subject has it."""
        versions = self.with_id(context, schema_id)
        return versions[0].content if versions else None

    def with_digest(self, context: str, digest: bytes) -> tuple[Version, ...]:
        """The versions with a content digest whose subjects are visible."""
        return tuple(version for version in self.whole.with_digest(context, digest) if self._may_see(version.subject))

    def referrers(self, subject: str, number: int) -> list[Version]:
        """The versions that refer to a version and whose subjects may be read."""
        return [version for version in self.whole.referrers(subject, number) if self._may_read(version.subject)]

    # Look-ups by name

    still: Any = _PassedOn()
    versions: Any = _PassedOn()
    version: Any = _PassedOn()
    live_versions: Any = _PassedOn()
    latest: Any = _PassedOn()
    next_number: Any = _PassedOn()
    config: Any = _PassedOn()
    mode: Any = _PassedOn()
    # They tell an id or a yes about a text that the sender has.
    has_text: Any = _PassedOn()
    id_of: Any = _PassedOn()
    # Only repairs ask it, which read the whole log.
    is_contested: Any = _PassedOn()

    # Names that the routes themselves check, by rights of their own

    contexts: Any = _PassedOn()
    contexts_with_ids: Any = _PassedOn()
    highest_id: Any = _PassedOn()
    configured: Any = _PassedOn()
    with_modes: Any = _PassedOn()
    mirrors: Any = _PassedOn()
    rules: Any = _PassedOn()
    rule_origin: Any = _PassedOn()

    # For decisions, which ask their questions of this view before the committer decides on the whole view

    overlay: Any = _PassedOn()
    key_bytes: Any = _PassedOn()
    key_forms: Any = _PassedOn()
    offset: Any = _PassedOn()
    references_moved: Any = _PassedOn()

    # For the node itself: the tables, changes, and entries of all subjects

    tables: Any = _Refused()
    apply: Any = _Refused()
    apply_record: Any = _Refused()
    adopt: Any = _Refused()
    become: Any = _Refused()
    index_digests: Any = _Refused()
    entries_after: Any = _Refused()
    recent: Any = _Refused()
    broken_rules: Any = _Refused()
    passed_over: Any = _Refused()
    posted: Any = _Refused()
    rules_offset: Any = _Refused()
    settled_offset: Any = _Refused()
