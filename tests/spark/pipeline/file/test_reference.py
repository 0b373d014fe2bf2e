from __future__ import annotations

from pathlib import Path

import jsonschema
import yaml

from spark_avro.pipeline.file.json_schema import file_schema, reference
from spark_avro.pipeline.file.steps import STEPS
from spark_avro.pipeline.steps.table import STEP_KINDS
from tests.spark.pipeline.file.broken_files import BROKEN, GOOD, planted

DOCS = Path(__file__).parents[4] / "docs" / "pipelines-reference.md"


def test_the_reference_in_the_docs_is_that_of_the_table() -> None:
    text = DOCS.read_text(encoding="utf-8")
    inside = text.partition("<!-- reference -->\n")[2].partition("<!-- end of reference -->")[0]
    assert inside == reference()


def test_the_published_schema_takes_the_good_file_and_refuses_unknown_settings() -> None:
    schema = file_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    assert not list(validator.iter_errors(yaml.safe_load(GOOD)))
    for old, new, finding in BROKEN:
        if "no such setting" in finding:
            assert list(validator.iter_errors(yaml.safe_load(planted(old, new)[0]))), new


def test_every_step_of_the_file_has_its_function() -> None:
    assert {kind.section for kind in STEPS.values()} == set(STEP_KINDS)
