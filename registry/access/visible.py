"""A view of the registry with only the subjects that one principal may see."""

from __future__ import annotations

from collections.abc import Callable

from registry.state.model import Version
from registry.state.view import View


class VisibleView(View):
    """Reads the tables of another view and omits hidden subjects from lists.

    A look-up by name finds hidden subjects too: the sender's right to a subject was checked when it was named.
    """

    def __init__(self, view: View, may_see: Callable[[str], bool], may_read: Callable[[str], bool]) -> None:
        """Hide subjects of a view.

        Args:
            view: The whole view.
            may_see: Tells whether lists and look-ups by id or in other contexts show a subject.
            may_read: Tells whether a subject's references to others are listed.
        """
        # Share the other view's tables, so that nothing is copied and later entries show here too.
        vars(self).update(vars(view))
        self._seen, self._may_see, self._may_read = view, may_see, may_read

    def may_see(self, subject: str) -> bool:
        """Tell whether a subject is visible."""
        return self._may_see(subject)

    def subjects(self) -> list[str]:
        """The visible subjects that have a version, in no order."""
        return [subject for subject in super().subjects() if self.may_see(subject)]

    def with_id(self, context: str, schema_id: int) -> tuple[Version, ...]:
        """The versions with an id whose subjects are visible."""
        return tuple(version for version in self._seen.with_id(context, schema_id) if self.may_see(version.subject))

    def with_digest(self, context: str, digest: bytes) -> tuple[Version, ...]:
        """The versions with a content digest whose subjects are visible."""
        return tuple(version for version in self._seen.with_digest(context, digest) if self.may_see(version.subject))

    def referrers(self, subject: str, number: int) -> list[Version]:
        """The versions that refer to a version and whose subjects may be read."""
        return [version for version in self._seen.referrers(subject, number) if self._may_read(version.subject)]
