"""A view with hidden subjects: each attribute of the whole view is decided, and lists omit what is hidden."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from compat.schema import AVRO, Reference
from registry.access.visible import VisibleView
from registry.state import records
from registry.state.identity import digest_of
from registry.state.model import Content, Version
from registry.state.records import Key
from registry.state.view import View

HIDDEN = "secret"
BASE = Content(AVRO, '"int"')
USER = Content(AVRO, '"string"', (Reference("I", "open", 1),))
SECRET = Content(AVRO, '"long"', (Reference("I", "open", 1),))


def put(view: View, subject: str, number: int, schema_id: int, content: Content) -> None:
    version = Version(subject, number, schema_id, content, deleted=False, timestamp=0)
    view.apply_record(records.version_record(records.encode_key(Key(records.SCHEMA, subject, number)), version))


def whole() -> View:
    """`open` has ids 1 and 2; `secret` has ids 1 and 3, and refers to `open`."""
    view = View()
    put(view, "open", 1, 1, BASE)
    put(view, HIDDEN, 1, 1, BASE)
    put(view, "open", 2, 2, USER)
    put(view, HIDDEN, 2, 3, SECRET)
    return view


def visible(view: View) -> VisibleView:
    may_see: Callable[[str], bool] = lambda subject: subject != HIDDEN  # noqa: E731
    return VisibleView(view, may_see, may_see)


def undecided(view: View) -> list[str]:
    """The public attributes of a view that `VisibleView` does not decide."""
    return sorted(name for name in dir(view) if not name.startswith("_") and name not in vars(VisibleView))


def test_every_attribute_of_a_view_is_decided() -> None:
    assert undecided(View()) == []


class ViewWithNewList(View):
    def __init__(self) -> None:
        super().__init__()
        self.new_table = {HIDDEN: True}

    def new_list(self) -> list[str]:
        return list(self.tables.subjects)


def test_a_new_attribute_is_noticed() -> None:
    assert undecided(ViewWithNewList()) == ["new_list", "new_table"]


def test_an_inherited_method_that_is_not_decided_shows_nothing() -> None:
    with pytest.raises(AttributeError, match="a view with hidden subjects has no `tables`"):
        ViewWithNewList.new_list(visible(whole()))  # type: ignore[arg-type]  # as if inherited


def subjects_of(versions: Any) -> list[tuple[str, int]]:
    return [(version.subject, version.number) for version in versions]


@pytest.mark.parametrize(
    ("read", "shown", "all_of_them"),
    [
        (lambda view: sorted(view.subjects()), ["open"], ["open", HIDDEN]),
        (lambda view: subjects_of(view.with_id(".", 1)), [("open", 1)], [("open", 1), (HIDDEN, 1)]),
        (lambda view: subjects_of(view.with_id(".", 3)), [], [(HIDDEN, 2)]),
        (lambda view: view.content_with_id(".", 1), BASE, BASE),
        (lambda view: view.content_with_id(".", 3), None, SECRET),
        (lambda view: subjects_of(view.with_digest(".", digest_of(SECRET))), [], [(HIDDEN, 2)]),
        (lambda view: subjects_of(view.referrers("open", 1)), [("open", 2)], [("open", 2), (HIDDEN, 2)]),
        # By name: the right to the subject is checked when it is named.
        (lambda view: subjects_of(view.versions(HIDDEN)), [(HIDDEN, 1), (HIDDEN, 2)], [(HIDDEN, 1), (HIDDEN, 2)]),
        (lambda view: view.has_text('"long"'), True, True),
        (lambda view: view.highest_id("."), 3, 3),
        (lambda view: view.may_see(HIDDEN), False, True),
    ],
)
def test_lists_omit_hidden_subjects(read: Callable[[View], Any], shown: Any, all_of_them: Any) -> None:
    view = whole()
    assert (read(visible(view)), read(view)) == (shown, all_of_them)


@pytest.mark.parametrize("name", ["apply", "become", "entries_after", "recent", "tables"])
def test_the_visible_view_refuses_methods_for_the_node_alone(name: str) -> None:
    with pytest.raises(AttributeError, match=f"has no `{name}`"):
        getattr(visible(whole()), name)


def test_later_entries_show_also_after_the_log_was_read_anew() -> None:
    view = whole()
    shown = visible(view)
    offset = view.offset
    put(view, "new", 1, 4, Content(AVRO, '"float"'))
    assert (shown.offset, sorted(shown.subjects())) == (offset + 1, ["new", "open"])
    other = View()
    put(other, "other", 1, 1, BASE)
    view.become(other, offset + 1)
    assert shown.subjects() == ["other"]


def test_an_overlay_is_over_the_whole_view() -> None:
    assert sorted(visible(whole()).overlay().subjects()) == ["open", HIDDEN]
