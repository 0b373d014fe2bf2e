from __future__ import annotations

import pytest

from tools.references import DOCS, REFERENCES, with_reference


@pytest.mark.parametrize("page", REFERENCES)
def test_a_page_has_the_reference_of_its_settings(page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    assert text == with_reference(text, REFERENCES[page])
    assert "| Setting | Takes | Default | |" in text.partition("<!-- reference -->")[2]
