"""The output formats of a report: each is a function from the report to text, imported on first use."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from magicbyte.check.findings import Report

#: Name of the form -> the module with its `render`.
FORMATS = {
    "text": "magicbyte.check.outputs.text",
    "json": "magicbyte.check.outputs.json_report",
    "junit": "magicbyte.check.outputs.junit",
    "sarif": "magicbyte.check.outputs.sarif",
    "github-markdown": "magicbyte.check.outputs.markdown",
    "github": "magicbyte.check.outputs.github",
    "gitlab": "magicbyte.check.outputs.gitlab",
}


def renderer(form: str) -> Callable[[Report], str]:
    """The function that writes a report in a form."""
    render: Callable[[Report], str] = import_module(FORMATS[form]).render
    return render
