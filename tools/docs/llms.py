"""llms.txt and llms-full.txt of the site: its pages as a list, and their Markdown in one file (https://llmstxt.org)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

SUMMARY = (
    "Schema registry, Kafka REST proxy, serializers, compatibility checks and PySpark functions in Python, for data in "
    "Confluent's format."
)


def write_llms(source: Path, built: Path, sections: Mapping[str, Sequence[str]]) -> None:
    """Write llms.txt and llms-full.txt.

    Args:
        source: the folder of the pages in Markdown.
        built: the folder of the built site.
        sections: the pages of each section, without `.md`.

    """
    index = ["# Magicbyte", "", f"> {SUMMARY}", ""]
    full = list(index)
    for title, pages in sections.items():
        if not pages:
            continue
        index.append(f"## {title}\n")
        for page in pages:
            text = (source / f"{page}.md").read_text(encoding="utf-8")
            index.append(f"- [{page_title(text)}]({page}.html){_about(text)}")
            full += [f"<!-- {page}.html -->", _plain(text), ""]
        index.append("")
    (built / "llms.txt").write_text("\n".join(index), encoding="utf-8")
    (built / "llms-full.txt").write_text("\n".join(full), encoding="utf-8")


def page_title(text: str) -> str:
    """Return the first heading of a page."""
    heading = re.search(r"^# +(.+?)\s*$", text, re.MULTILINE)
    return heading[1].replace("`", "") if heading else ""


def _about(text: str) -> str:
    """The first sentence of a page's first paragraph, after a colon."""
    text = re.sub(r"<!--.*?-->\n?", "", text, flags=re.DOTALL)
    _, _, rest = text.partition("\n# ") if not text.startswith("# ") else ("", "", text)
    for block in re.split(r"\n\s*\n", rest)[1:]:
        if re.match(r"(?!```)[A-Za-z`*\[]", block):
            plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(block.split()))
            return f": {re.split(r'(?<=[.?!:]) ', plain)[0].rstrip(':')}"
    return ""


def _plain(text: str) -> str:
    """A page without what is meant for Sphinx: comments, anchors, and the directives around autodoc's names."""
    text = re.sub(r"<!--.*?-->\n?", "", text, flags=re.DOTALL)
    text = re.sub(r"^\([\w-]+\)=\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"^```\{py:module\}.*?^```\n+", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^```\{eval-rst\}\n\.\. \w+:: (\S+)\n.*?^```$", r"- `\1`", text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"\n{3,}", "\n\n", text).strip()
