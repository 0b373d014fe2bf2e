"""Writes the references of settings into the pages of docs/, between two marks."""

from __future__ import annotations

from pathlib import Path

from magicbyte.check.config.config import Config
from magicbyte.kit.settings.generated import reference
from magicbyte.kit.settings.section import Section
from spark_avro.pipeline.file.pipeline import Pipeline

#: Page -> the section whose settings it lists.
REFERENCES: dict[str, type[Section]] = {"check.md": Config, "pipelines-reference.md": Pipeline}
DOCS = Path(__file__).parents[1] / "docs"


def with_reference(page: str, section: type[Section]) -> str:
    """A page with the reference as it is now."""
    before, begin, rest = page.partition("<!-- reference -->\n")
    _, end, after = rest.partition("<!-- end of reference -->\n")
    return f"{before}{begin}{reference(section)}{end}{after}"


if __name__ == "__main__":
    for name, section in REFERENCES.items():
        page = DOCS / name
        page.write_text(with_reference(page.read_text(encoding="utf-8"), section), encoding="utf-8")
