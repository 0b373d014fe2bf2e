"""The errors of pipelines, and the place of what is in no file."""

from __future__ import annotations

from dataclasses import dataclass

from magicbyte.kit.settings.place import Finding, FindingsError, Place

#: The place of a value that is not in a file, such as a default.
NOWHERE = Place("pipeline")


class PipelineError(FindingsError):
    """Errors in a pipeline file or in something that it names; the text has one line for each."""


def error_at(place: Place, path: str, problem: str) -> PipelineError:
    """An error with one finding."""
    return PipelineError([Finding(place, path, problem)])


@dataclass(frozen=True, slots=True)
class LintFinding:
    """A finding of a file whose settings are right one by one.

    Attributes:
        finding: The place in the file, and the problem.
        refused: Whether the pipeline is refused; if not, it is a caution.
    """

    finding: Finding
    refused: bool
