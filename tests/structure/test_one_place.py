from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("compat", "magicbyte", "registry", "rest_proxy", "serdes", "spark_avro")

#: What is done in one place -> the files and folders that may mention it.
PLACES = {
    # The text forms of values. Rules of JSONATA and migrations see values in such a form.
    "json_to_avro": "serdes/codec/ serdes/text/ serdes/rules/jsonata/ serdes/rules/migrations/",
    "avro_to_json": (
        "serdes/codec/ serdes/text/ serdes/rules/jsonata/ serdes/rules/migrations/ spark_avro/workers/decoding.py"
    ),
    # compat knows nothing of serdes, and shows small messages of its own making.
    "MessageToDict": (
        "serdes/text/ serdes/rules/jsonata/ serdes/rules/migrations/ serdes/rules/dead_letters/ magicbyte/cli/rules/"
        " compat/protobuf/witness/reception.py"
    ),
    "ParseDict": "serdes/text/ serdes/rules/jsonata/ serdes/rules/migrations/ magicbyte/cli/rules/",
    # Rules for clients are refused at the seam alone; the proxy words the refusal anew, and Spark refuses those that it
    # does not carry out.
    "RulesNotSupported(": (
        "serdes/rules/seam.py serdes/error.py rest_proxy/formats/schemas.py spark_avro/plan/rules/refusing.py"
    ),
    # A relay decides which headers travel, and an application in this process is asked in one way.
    "_HOP_BY_HOP": "magicbyte/http/relay/headers.py",
    '"raw_path":': "magicbyte/http/connection/request/scope.py magicbyte/http/relay/in_process.py",
}


@pytest.mark.parametrize("words", PLACES)
def test_one_thing_is_done_in_one_place(words: str) -> None:
    files = (path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py")))
    mentioning = [str(path.relative_to(ROOT)) for path in files if words in path.read_text(encoding="utf-8")]
    assert mentioning
    assert [path for path in mentioning if not path.startswith(tuple(PLACES[words].split()))] == []
