"""Sphinx's configuration of the documentation site; tools/docs/build.py runs it on the staged pages."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent

project = "Magicbyte"
author = "the Magicbyte authors"
project_copyright = author
release = version = os.environ["MAGICBYTE_DOCS_VERSION"]
root_doc = "index"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]

myst_heading_anchors = 6
myst_enable_extensions = ["deflist"]
# A page says `json` of JSON with an ellipsis or a comment, too; it is shown without colours then.
suppress_warnings = ["misc.highlighting_failure"]

autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
napoleon_numpy_docstring = False
napoleon_use_ivar = True
python_use_unqualified_type_names = True
# Types of other packages, and types of ours that are not public, have no page to lead to.
nitpick_ignore_regex = [(r"py:.*", r"(?!(serdes|spark_avro|magicbyte\.testing)\.\w+$).*")]

html_theme = "furo"
html_title = f"Magicbyte {release}"
html_static_path = [str(HERE / "static")]
templates_path = [str(HERE / "templates")]
html_css_files = ["site.css"]
html_js_files = [("versions_list.js", {"priority": 700})]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_domain_indices = False
html_theme_options: dict[str, Any] = {
    "source_repository": os.environ["MAGICBYTE_DOCS_REPOSITORY"],
    "navigation_with_keys": True,
    "light_css_variables": {"color-brand-primary": "#0b5cad", "color-brand-content": "#0b5cad"},
    "dark_css_variables": {"color-brand-primary": "#7db8f5", "color-brand-content": "#7db8f5"},
}
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
        "sidebar/version_switch.html",
    ]
}
# The prompt and the output of a `console` block are not copied.
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True
copybutton_line_continuation_character = "\\"
copybutton_here_doc_delimiter = "EOF"


def _refuse_bare(_app: Any, what: str, name: str, _object: Any, _options: Any, lines: list[str]) -> None:
    """Warn of a public name without a docstring; the build fails on warnings."""
    from sphinx.util import logging  # noqa: PLC0415  not in the environment that lints

    if what not in ("data", "attribute", "property", "module") and not any(line.strip() for line in lines):
        logging.getLogger(__name__).warning("%s %s has no docstring", what, name)


def _signature_of_twin(
    _app: Any, what: str, _name: str, value: Any, _options: Any, _signature: str | None, _returned: str | None
) -> tuple[str, str] | None:
    """Show the arguments of an asynchronous serializer, which passes them on to its twin."""
    from sphinx.util.inspect import signature, stringify_signature  # noqa: PLC0415  not in the environment that lints

    if what == "class" and hasattr(value, "twin"):
        return stringify_signature(signature(value.twin), show_return_annotation=False), ""
    return None


def setup(app: Any) -> None:
    """Connect the check of docstrings, and the signatures of the asynchronous serializers."""
    app.connect("autodoc-process-signature", _signature_of_twin)
    app.connect("autodoc-process-docstring", _refuse_bare)
