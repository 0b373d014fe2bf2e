"""Links of the documents, as the site needs them: to its own pages, or into the repository at the release's tag."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote

#: Links and comments in blocks and spans of code are none.
_CODE_OR_LINK = re.compile(
    r"(?P<code>^(?P<fence>```+|~~~+).*?^(?P=fence)|(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`))"
    r"|(?P<comment><!--.*?-->)"
    r"|(?P<before>\]\()(?P<target>(?!\w+:|#|//)[^)\s]+)(?P<after>\))",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True)
class Links:
    """Rewrites the links of documents.

    Args:
        root: the checkout.
        pages: path of a document in the checkout -> path of its page in the site, both with `.md`.
        repository: URL of the repository's web pages.
        tag: the tag of the release.

    """

    root: Path
    pages: Mapping[str, str]
    repository: str
    tag: str

    def rewrite(self, text: str, document: str) -> str:
        """Return a document's text with the links of its page in the site, and without comments."""
        folder = posixpath.dirname(document)
        page_folder = posixpath.dirname(self.pages.get(document, document.removeprefix("docs/")))

        def one(match: re.Match[str]) -> str:
            if match["code"]:
                return match[0]
            if match["comment"]:  # marks for the tests; the lines keep their numbers
                return "\n" * match[0].count("\n")
            return f"{match['before']}{self._target(match['target'], folder, page_folder)}{match['after']}"

        return _CODE_OR_LINK.sub(one, text)

    def _target(self, target: str, folder: str, page_folder: str) -> str:
        path, sharp, anchor = target.partition("#")
        place = posixpath.normpath(posixpath.join(folder, unquote(path)))
        page = self.pages.get(place)
        if page is not None:
            return posixpath.relpath(page, page_folder or ".") + sharp + anchor
        if place.startswith("docs/"):  # a picture, or a page that is missing, which the build reports
            return target
        kind = "tree" if (self.root / place).is_dir() else "blob"
        return f"{self.repository}/{kind}/{self.tag}/{quote(place)}{sharp}{anchor}"
