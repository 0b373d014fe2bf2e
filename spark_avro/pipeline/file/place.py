"""The errors of pipelines, and the place of what is in no file."""

from __future__ import annotations

from magicbyte.kit.settings.place import Finding, FindingsError, Place

#: The place of a value that is not in a file, such as a default.
NOWHERE = Place("pipeline")


class PipelineError(FindingsError):
    """Errors in a pipeline file or in something that it names; the text has one line for each."""


def error_at(place: Place, path: str, problem: str) -> PipelineError:
    """An error with one finding."""
    return PipelineError([Finding(place, path, problem)])
