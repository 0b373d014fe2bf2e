"""Subjects whose names, fields and texts try to break a page."""

from __future__ import annotations

import json

import httpx

from tests.ui.kit.filling import register

IMAGE = "<img src=x onerror=alert(1)>"
SCRIPT = "<script>alert(1)</script>"
#: Shown from right to left, and with a character of no width.
BIDI = "\u202egnp.exe\u200b"
#: The subjects, each with what its first heading shows.
HOSTILE = {
    IMAGE: IMAGE,
    f"{SCRIPT}-value": f"{SCRIPT}-value",
    f"pay{BIDI}-value": "payU+202Egnp.exeU+200B-value",
    "a/b %2F?#": "a/b %2F?#",
    ":.ctx:x": ":.ctx:x",
    "javascript:alert(1)": "javascript:alert(1)",
    "many-fields-value": "many-fields-value",
    "long-doc-value": "long-doc-value",
    "new": "new",
    " spaced  value  ": "U+0020spaced  valueU+0020U+0020",
}


def fill_hostile(url: str) -> None:
    """Register two versions of each subject of `HOSTILE`."""
    with httpx.Client(base_url=url, timeout=60, trust_env=False) as client:
        for subject in HOSTILE:
            for version in (1, 2):
                register(client, subject, _record(subject, version))
        assert len(client.get("/subjects?subjectPrefix=:*:").json()) == len(HOSTILE)


def _record(subject: str, version: int) -> str:
    fields = [{"name": "id", "type": "long", "doc": f"{IMAGE} {SCRIPT} {BIDI} [x](javascript:alert(1))"}]
    if subject == "many-fields-value":
        fields += [{"name": f"field_{number}", "type": "string", "doc": "x"} for number in range(3000)]
    if subject == "long-doc-value":
        fields[0]["doc"] = "<b>long</b> " * 90_000
    if version == 2:
        fields.append({"name": "more", "type": ["null", "string"], "default": None, "doc": IMAGE})  # type: ignore[dict-item]
    return json.dumps({"type": "record", "name": "R", "namespace": "hostile", "doc": IMAGE, "fields": fields})
