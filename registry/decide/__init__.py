"""Decisions: pure functions from a view and a request to the records to append and the result."""

from __future__ import annotations

from registry.decide.access_rules import decide_add_rules, decide_remove_rules, decide_replace_rules
from registry.decide.bulk_import import Line, Report, decide_load, names_mirror
from registry.decide.configure import (
    decide_delete_config,
    decide_delete_context,
    decide_delete_mode,
    decide_put_config,
    decide_put_mode,
)
from registry.decide.decision import Decision
from registry.decide.delete import decide_delete_subject, decide_delete_version, decide_undelete
from registry.decide.question import Answered, Question, Terms, Unanswered
from registry.decide.registration.look_up import look_up
from registry.decide.registration.register import decide_register, registered
from registry.decide.registration.stages import Sent
from registry.decide.tag import Tagging, decide_tag

__all__ = [
    "Answered",
    "Decision",
    "Line",
    "Question",
    "Report",
    "Sent",
    "Tagging",
    "Terms",
    "Unanswered",
    "decide_add_rules",
    "decide_delete_config",
    "decide_delete_context",
    "decide_delete_mode",
    "decide_delete_subject",
    "decide_delete_version",
    "decide_load",
    "decide_put_config",
    "decide_put_mode",
    "decide_register",
    "decide_remove_rules",
    "decide_replace_rules",
    "decide_tag",
    "decide_undelete",
    "look_up",
    "names_mirror",
    "registered",
]
