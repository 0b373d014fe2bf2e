from __future__ import annotations

import jsonschema
import yaml

from magicbyte.kit.settings.generated import default_text, document_schema, sections
from magicbyte.kit.settings.kinds import Reading
from magicbyte.kit.settings.section import settings_of
from spark_avro.pipeline.file.nodes import read_documents
from spark_avro.pipeline.file.pipeline import Pipeline
from spark_avro.pipeline.file.steps import STEPS
from spark_avro.pipeline.steps.step_table import STEP_KINDS
from tests.spark.pipeline.file.broken_files import BROKEN, GOOD, planted


def test_every_default_in_the_reference_is_read_from_yaml_as_the_default() -> None:
    rows = {f"{path}.{row.name}": row for section, path in sections(Pipeline).items() for row in settings_of(section)}
    shown = {name: row for name, row in rows.items() if not row.required and row.default not in (None, (), {})}
    read = {}
    for name, row in shown.items():
        [node] = read_documents(default_text(row).strip("`"), "reference")
        read[name] = row.kind.read(node, Reading(), name)
    assert {name: row.default for name, row in shown.items()} == read
    assert [default_text(shown[name]) for name in ("errors.retry", "sink.files.target", "sink.files.partition")] == [
        "`{for: 1m, max-delay: 10s}`",
        "`128MB`",
        "`[dt, hour]`",
    ]


def test_the_published_schema_takes_the_good_file_and_refuses_unknown_settings() -> None:
    schema = document_schema(Pipeline, "Magicbyte pipeline")
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    assert not list(validator.iter_errors(yaml.safe_load(GOOD)))
    for old, new, finding in BROKEN:
        if "no such setting" in finding:
            assert list(validator.iter_errors(yaml.safe_load(planted(old, new)[0]))), new


def test_every_step_of_the_file_has_its_function() -> None:
    assert {kind.section for kind in STEPS.values()} == set(STEP_KINDS)
