"""The registry's state as a fold over the log's records."""

from registry.state.view.recent_entries import RECENT_ENTRIES, Applied
from registry.state.view.view import View

__all__ = ["RECENT_ENTRIES", "Applied", "View"]
