"""Sections of a pipeline file."""

from __future__ import annotations

from dataclasses import field

from magicbyte.kit.settings import section
from magicbyte.kit.settings.section import Origin
from spark_avro.pipeline.file.place import NOWHERE, PipelineError


class Section(section.Section):
    """A section of a pipeline file."""

    origin: Origin = field(default=Origin(place=NOWHERE), compare=False, repr=False)

    def error(self, name: str, problem: str) -> PipelineError:
        """An error at a setting's value."""
        return PipelineError([self.finding(name, problem)])
