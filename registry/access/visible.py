"""A view as one principal sees it: what enumerates subjects leaves out those that are hidden."""

from __future__ import annotations

from collections.abc import Callable

from registry.state.model import Version
from registry.state.view import View


class VisibleView(View):
    """Reads the tables of another view.

    What is looked for by its name is found, since whoever names a subject has been asked for the right to it before.
    """

    def __init__(self, view: View, may_see: Callable[[str], bool], may_read: Callable[[str], bool]) -> None:
        """Hide subjects of a view.

        Args:
            view: All that there is.
            may_see: Tells whether lists have a subject, and whether ids and other contexts lead to it.
            may_read: Tells whether its references to others are listed.
        """
        # The tables are those of the view, whatever becomes of it; nothing is copied.
        vars(self).update(vars(view))
        self._seen, self._may_see, self._may_read = view, may_see, may_read

    def may_see(self, subject: str) -> bool:
        """Tell whether a subject is not hidden."""
        return self._may_see(subject)

    def subjects(self) -> list[str]:
        """All subjects that have a version and are not hidden, in no order."""
        return [subject for subject in super().subjects() if self.may_see(subject)]

    def with_id(self, context: str, schema_id: int) -> tuple[Version, ...]:
        """All versions that carry an id, of subjects that are not hidden."""
        return tuple(version for version in self._seen.with_id(context, schema_id) if self.may_see(version.subject))

    def with_digest(self, context: str, digest: bytes) -> tuple[Version, ...]:
        """All versions whose content has a digest, of subjects that are not hidden."""
        return tuple(version for version in self._seen.with_digest(context, digest) if self.may_see(version.subject))

    def referrers(self, subject: str, number: int) -> list[Version]:
        """The versions that refer to a version, of subjects that may be read."""
        return [version for version in self._seen.referrers(subject, number) if self._may_read(version.subject)]
