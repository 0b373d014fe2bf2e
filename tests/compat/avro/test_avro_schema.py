"""Avro schemas: what is read and refused, and the texts they are printed as."""

from __future__ import annotations

import json

import pytest

from compat.avro import AvroSchema
from compat.avro.nodes import Node
from compat.avro.schema import is_same
from compat.avro.text.parser import Parser
from compat.formats import parse
from compat.schema import AVRO, Dependency, InvalidSchema, Position, SchemaText


def schema(text: str, *dependencies: str, strict: bool = True) -> AvroSchema:
    named = tuple(Dependency(f"d{index}", dependency) for index, dependency in enumerate(dependencies))
    parsed = parse(SchemaText(AVRO, text), named, strict=strict)
    assert isinstance(parsed, AvroSchema)
    return parsed


# text, canonical text
PRINTED = [
    ('"string"', '"string"'),
    (' { "type" : "string" } ', '"string"'),
    ('{"type":"string","doc":"dropped","name":"dropped","aliases":["dropped"]}', '"string"'),
    ('{"type":"string","avro.java.string":"String"}', '{"type":"string","avro.java.string":"String"}'),
    ('{"logicalType":"date","type":"int"}', '{"type":"int","logicalType":"date"}'),
    ('{"type":"int","logicalType":"no such type"}', '{"type":"int","logicalType":"no such type"}'),
    ('{"type":"string","default":"kept"}', '{"type":"string","default":"kept"}'),
    ('["null", {"type":"int"}]', '["null","int"]'),
    ("[]", "[]"),
    ('{"items":"int","type":"array","z":1,"a":[2]}', '{"type":"array","items":"int","z":1,"a":[2]}'),
    ('{"type":"map","values":["null","long"]}', '{"type":"map","values":["null","long"]}'),
    ('{"type":"fixed","size":0,"name":"F","doc":""}', '{"type":"fixed","name":"F","doc":"","size":0}'),
    (
        '{"symbols":["A","B"],"default":"A","name":"a.E","type":"enum","p":null,"aliases":["E1","b.E2","a.E3"]}',
        (
            '{"type":"enum","name":"E","namespace":"a","symbols":["A","B"],"default":"A","p":null,'
            '"aliases":["E1","b.E2","E3"]}'
        ),
    ),
    ('{"type":"enum","name":"E","symbols":[],"default":5}', '{"type":"enum","name":"E","symbols":[]}'),
    ('{"type":"error","name":"R","fields":[]}', '{"type":"error","name":"R","fields":[]}'),
    (
        (
            '{"fields":[{"order":"DESCENDING","aliases":["x","y","x"],"default":null,"doc":"d","type":"null","name":"f",'
            '"p":{"b":1,"a":1.5e3}}],"aliases":["Q"],"p":1,"doc":"\\u00e9","name":"R","type":"record"}'
        ),
        (
            '{"type":"record","name":"R","doc":"é","fields":[{"name":"f","type":"null","doc":"d","default":null,'
            '"order":"descending","aliases":["x","y"],"p":{"b":1,"a":1500.0}}],"p":1,"aliases":["Q"]}'
        ),
    ),
    (
        (
            '{"type":"record","name":"R","fields":[{"name":"a","type":"double","default":"1e2"},'
            '{"name":"b","type":"float","default":1},{"name":"c","type":"double","default":"NaN"},'
            '{"name":"d","type":"long","default":9223372036854775807},{"name":"e","type":"int","order":"ascending"}]}'
        ),
        (
            '{"type":"record","name":"R","fields":[{"name":"a","type":"double","default":100.0},'
            '{"name":"b","type":"float","default":1},{"name":"c","type":"double","default":"NaN"},'
            '{"name":"d","type":"long","default":9223372036854775807},{"name":"e","type":"int"}]}'
        ),
    ),
    # Names: a namespace is inherited, written when it changes, and written empty when it ends.
    (
        (
            '{"type":"record","name":"R","namespace":"a.b","fields":['
            '{"name":"f","type":{"type":"record","name":"S","fields":[{"name":"g","type":"R"},{"name":"h","type":"S"}]}},'
            '{"name":"i","type":{"type":"enum","name":"c.E","symbols":[]}},{"name":"j","type":"c.E"},'
            '{"name":"k","type":{"type":"fixed","name":"F","namespace":"","size":1}},{"name":"l","type":"F"},'
            '{"name":"m","type":"a.b.S"}]}'
        ),
        (
            '{"type":"record","name":"R","namespace":"a.b","fields":['
            '{"name":"f","type":{"type":"record","name":"S","fields":[{"name":"g","type":"R"},{"name":"h","type":"S"}]}},'
            '{"name":"i","type":{"type":"enum","name":"E","namespace":"c","symbols":[]}},{"name":"j","type":"c.E"},'
            '{"name":"k","type":{"type":"fixed","name":"F","namespace":"","size":1}},{"name":"l","type":"F"},'
            '{"name":"m","type":"S"}]}'
        ),
    ),
    # A name that is also a type's is written in full.
    (
        (
            '{"type":"record","name":"R","namespace":"a","fields":['
            '{"name":"f","type":{"type":"fixed","name":"map","size":1}},{"name":"g","type":"a.map"}]}'
        ),
        (
            '{"type":"record","name":"R","namespace":"a","fields":['
            '{"name":"f","type":{"type":"fixed","name":"map","size":1}},{"name":"g","type":"a.map"}]}'
        ),
    ),
    # A name in the place of a type, and a definition repeated word for word, are mentions.
    (
        '[{"type":"fixed","name":"F","size":1},{"type":"array","items":{"type":"F","p":1}}]',
        '[{"type":"fixed","name":"F","size":1},{"type":"array","items":"F"}]',
    ),
    (
        (
            '{"type":"record","name":"R","fields":[{"name":"a","type":{"type":"fixed","name":"F","size":1}},'
            '{"name":"b","type":{"name":"F","size":1,"type":"fixed"}}]}'
        ),
        (
            '{"type":"record","name":"R","fields":[{"name":"a","type":{"type":"fixed","name":"F","size":1}},'
            '{"name":"b","type":"F"}]}'
        ),
    ),
    ('// a comment\n{"type": /* here */ "int"}', '"int"'),
]


@pytest.mark.parametrize(("text", "canonical"), PRINTED, ids=range(len(PRINTED)))
def test_the_canonical_text_equals_that_of_java(text: str, canonical: str):
    assert schema(text).canonical == canonical
    assert schema(canonical).canonical == canonical


def test_an_alias_without_namespace_keeps_its_meaning():
    text = '{"type":"record","name":"R","namespace":"a","fields":[],"aliases":[".Q"]}'
    assert schema(text).canonical == text


RECORD = '{{"type":"record","name":"R","fields":[{}]}}'

# text, detail, position
REFUSED = [
    ("", "Empty schema", None),
    (" \n", "Empty schema", None),
    ("string", "Expecting value (line 1, column 1)", Position(1, 1)),
    ('{"type":"int"} "dangling"', "Extra data (line 1, column 16)", Position(1, 16)),
    ("null", "Schema not yet supported: null", Position(1, 1)),
    ("5", "Schema not yet supported: 5", Position(1, 1)),
    ("{}", "No type: {}", Position(1, 1)),
    ('{"type":{"type":"int"}}', 'No type: {"type":{"type":"int"}}', Position(1, 1)),
    ('{"type":["null","int"]}', 'No type: {"type":["null","int"]}', Position(1, 1)),
    ('"str"', "Undefined schema: str", Position(1, 1)),
    ('"strin"', "Undefined schema: strin", Position(1, 1)),
    ('{"type":"strin"}', "Undefined schema: strin", Position(1, 1)),
    ('[\n"int",\n{"type":"strin"}]', "Undefined schema: strin", Position(3, 1)),
    ('["int","int"]', "Duplicate in union:int", Position(1, 1)),
    ('["int",{"type":"int","logicalType":"date"}]', "Duplicate in union:int", Position(1, 1)),
    (
        '[{"type":"array","items":"int"},{"type":"array","items":"long"}]',
        "Duplicate in union:array",
        Position(1, 1),
    ),
    (
        '[{"type":"fixed","name":"a.F","size":1},"a.F"]',
        "Duplicate in union:a.F",
        Position(1, 1),
    ),
    ('["null",["int"]]', 'Nested union: ["null",["int"]]', Position(1, 1)),
    ('{"type":"array"}', 'Array has no items type: {"type":"array"}', Position(1, 1)),
    ('{"type":"map"}', 'Map has no values type: {"type":"map"}', Position(1, 1)),
    ('{"type":"map","values":null}', "Schema not yet supported: null", Position(1, 1)),
    ('{"type":"fixed","size":1}', 'No name in schema: {"type":"fixed","size":1}', Position(1, 1)),
    ('{"type":"fixed","name":"F"}', 'Invalid or no size: {"type":"fixed","name":"F"}', Position(1, 1)),
    (
        '{"type":"fixed","name":"F","size":1.0}',
        'Invalid or no size: {"type":"fixed","name":"F","size":1.0}',
        Position(1, 1),
    ),
    (
        '{"type":"fixed","name":"F","size":true}',
        'Invalid or no size: {"type":"fixed","name":"F","size":true}',
        Position(1, 1),
    ),
    ('{"type":"fixed","name":"F","size":-1}', "Malformed data. Length is negative: -1", Position(1, 1)),
    ('{"type":"enum","name":"E"}', 'Enum has no symbols: {"type":"enum","name":"E"}', Position(1, 1)),
    ('{"type":"enum","name":"E","symbols":["A","A"]}', "Duplicate enum symbol: A", Position(1, 1)),
    ('{"type":"enum","name":"E","symbols":["a-b"]}', "Illegal character in: a-b", Position(1, 1)),
    ('{"type":"enum","name":"E","symbols":[""]}', "Empty name", Position(1, 1)),
    ('{"type":"enum","name":"E","symbols":[1]}', "Null name", Position(1, 1)),
    (
        '{"type":"enum","name":"E","symbols":["A","B"],"default":"C"}',
        "The Enum Default: C is not in the enum symbol set: [A, B]",
        Position(1, 1),
    ),
    ('{"type":"record","name":"R"}', 'Record has no fields: {"type":"record","name":"R"}', Position(1, 1)),
    (
        '{"type":"record","fields":[]}',
        'No name in schema: {"type":"record","fields":[]}',
        Position(1, 1),
    ),
    ('{"type":"record","name":"int","fields":[]}', "Schemas may not be named after primitives: int", Position(1, 1)),
    ('{"type":"record","name":"1R","fields":[]}', "Illegal initial character: 1R", Position(1, 1)),
    ('{"type":"record","name":"Größe","fields":[]}', "Illegal character in: Größe", Position(1, 1)),
    ('{"type":"record","name":"R\\n","fields":[]}', "Illegal character in: R\n", Position(1, 1)),
    (
        '{"type":"record","name":"R","namespace":"a-b.c","fields":[]}',
        'Namespace part "a-b" is invalid: Illegal character in: a-b',
        Position(1, 1),
    ),
    ('{"type":"record","name":"a..R","fields":[]}', 'Namespace part "" is invalid: Empty name', Position(1, 1)),
    ('{"type":"record","name":"R","aliases":["a b"],"fields":[]}', "Illegal character in: a b", Position(1, 1)),
    (
        '{"type":"record","name":"R","aliases":"Q","fields":[]}',
        'aliases not an array: {"type":"record","name":"R","aliases":"Q","fields":[]}',
        Position(1, 1),
    ),
    ('{"type":"record","name":"R","aliases":[1],"fields":[]}', "alias not a string: 1", Position(1, 1)),
    (RECORD.format("5"), "No field name: 5", Position(1, 1)),
    (RECORD.format('{"type":"int"}'), 'No field name: {"type":"int"}', Position(1, 39)),
    (RECORD.format('{"name":"a"}'), 'No field type: {"name":"a"}', Position(1, 39)),
    (
        RECORD.format('{"name":"a","type":"Foo"}'),
        "Undefined schema: Foo",
        Position(1, 39),
    ),
    (RECORD.format('{"name":"a-b","type":"int"}'), "Illegal character in: a-b", Position(1, 39)),
    (
        RECORD.format('{"name":"a","type":"int"},\n{"name":"a","type":"string"}'),
        "Duplicate field a in record R: a type:STRING pos:1 and a type:INT pos:0.",
        Position(2, 1),
    ),
    (
        RECORD.format('{"name":"a","type":"int","order":"upwards"}'),
        'Invalid order for field a: "upwards"',
        Position(1, 39),
    ),
    (RECORD.format('{"name":"a","type":"double","default":"x"}'), 'For input string: "x"', Position(1, 39)),
    (
        RECORD.format('{"name":"a","type":{"type":"fixed","name":"R","size":1}}'),
        "Can't redefine: R",
        Position(1, 51),
    ),
    (
        '[{"type":"fixed","name":"F","size":1},\n{"type":"array","items":{"type":"fixed","name":"F","size":2}}]',
        "Can't redefine: F",
        Position(2, 17),
    ),
    ('["Later",{"type":"fixed","name":"Later","size":1}]', "Undefined schema: Later", Position(1, 1)),
    (
        '{"type":"array","items":' * 201 + '"int"' + "}" * 201,
        "Nested deeper than 200 levels (line 1, column 4801)",
        Position(1, 4801),
    ),
]


@pytest.mark.parametrize(("text", "detail", "position"), REFUSED, ids=range(len(REFUSED)))
def test_the_parser_refuses_the_schemas_that_java_refuses(text: str, detail: str, position: Position | None):
    with pytest.raises(InvalidSchema) as refused:
        schema(text)
    assert refused.value == InvalidSchema(AVRO, detail, position)


NODE = '{"type":"record","name":"N","fields":[{"name":"n","type":["null","N"],"default":null}]}'
UNION_OF_RECORDS = (
    '[{"type":"record","name":"A","fields":[{"name":"a","type":"int"}]},'
    '{"type":"record","name":"B","fields":[{"name":"b","type":"int","default":1}]}]'
)

# type, default, whether it is one
DEFAULTS = [
    ('"null"', "null", True),
    ('"null"', "0", False),
    ('"boolean"', "false", True),
    ('"boolean"', "0", False),
    ('"int"', "2147483647", True),
    ('"int"', "2147483648", False),
    ('"int"', "1.0", False),
    ('"int"', "true", False),
    ('"int"', '"1"', False),
    ('"long"', "-9223372036854775808", True),
    ('"long"', "9223372036854775808", False),
    ('"float"', "1", True),
    ('"double"', "1e3", True),
    ('"double"', '" 1.5d "', True),
    ('"double"', "null", False),
    ('"string"', '""', True),
    ('"string"', "1", False),
    ('"bytes"', '"\\u00ff"', True),
    ('"bytes"', "[1]", False),
    ('{"type":"fixed","name":"F","size":1}', '"a"', True),
    ('{"type":"enum","name":"E","symbols":["A"]}', '"A"', True),
    ('{"type":"enum","name":"E","symbols":["A"]}', "0", False),
    ('{"type":"array","items":"int"}', "[1,2]", True),
    ('{"type":"array","items":"int"}', '[1,"2"]', False),
    ('{"type":"array","items":"int"}', "{}", False),
    ('{"type":"map","values":"int"}', '{"a":1}', True),
    ('{"type":"map","values":"int"}', '{"a":null}', False),
    ('["null","int"]', "null", True),
    ('["null","int"]', "1", True),
    ('["null","int"]', '"1"', False),
    ("[]", "null", False),
    (NODE, "{}", True),
    (NODE, '{"n":{"n":null}}', True),
    (NODE, '{"n":{"n":1}}', False),
    (UNION_OF_RECORDS, '{"a":1}', True),
    (UNION_OF_RECORDS, "{}", True),
    (UNION_OF_RECORDS, '{"b":"x"}', False),
]


@pytest.mark.parametrize(("node", "default", "valid"), DEFAULTS)
def test_defaults_of_new_schemas_are_checked(node: str, default: str, valid: bool):
    text = RECORD.format(f'{{"name":"f","type":{node},"default":{default}}}')
    schema(text, strict=False)
    if valid:
        schema(text)
        return
    with pytest.raises(InvalidSchema) as refused:
        schema(text)
    assert refused.value.detail.startswith(f"Invalid default for field f: {default} not a ")


def test_the_text_of_a_refused_default():
    with pytest.raises(InvalidSchema) as refused:
        schema(RECORD.format('{"name":"f","type":["null",{"type":"int"}],"default":"x"}'))
    assert refused.value.detail == 'Invalid default for field f: "x" not a ["null","int"]'


def test_a_record_inside_itself_without_end_has_no_default():
    with pytest.raises(InvalidSchema):
        schema(RECORD.format('{"name":"r","type":"R","default":{}}'))


def test_a_default_in_unions_of_look_alikes_is_checked_in_time():
    branches = "null"
    for number in range(30):
        branch = '{{"type":"record","name":"{}{}","fields":[{{"name":"f","type":{}}}]}}'
        inner = f'["{branches}"]' if number == 0 else branches
        first = branch.format("A", number, inner)
        second = branch.format("B", number, json.dumps(f"A{number - 1}") if number else '"null"')
        branches = f"[{first},{second}]"
    default = '{"f":' * 30 + "1" + "}" * 30
    with pytest.raises(InvalidSchema) as refused:
        schema(RECORD.format(f'{{"name":"f","type":{branches},"default":{default}}}'))
    assert refused.value.detail.startswith("Invalid default")


LENIENT = [
    '{"type":"record","name":"a-b.Größe","fields":[{"name":"a b","type":"int","default":"x"}]}',
    '{"type":"enum","name":"E","symbols":["a-b",""]}',
]


@pytest.mark.parametrize("text", LENIENT)
def test_stored_schemas_are_read_leniently(text: str):
    assert schema(text, strict=False).canonical
    with pytest.raises(InvalidSchema):
        schema(text)


# text, normalised text
NORMALIZED = [
    (
        (
            '{"type":"record","name":"a.R","doc":"","aliases":["z.Z","B","A"],"z":1,"connect.name":"n","fields":['
            '{"name":"f","type":{"type":"int","logicalType":"date","b":1,"a":{"d":1,"c":2}},"doc":"","aliases":["y","x"],'
            '"z":1,"a":2}]}'
        ),
        (
            '{"type":"record","name":"R","namespace":"a","fields":['
            '{"name":"f","type":{"type":"int","logicalType":"date","a":{"c":2,"d":1},"b":1},"doc":"","aliases":["x","y"],'
            '"a":2,"z":1}],"connect.name":"n","z":1,"aliases":["A","B","z.Z"]}'
        ),
    ),
    (
        '{"type":"bytes","scale":2,"precision":4,"logicalType":"decimal","a":1}',
        '{"type":"bytes","logicalType":"decimal","precision":4,"scale":2,"a":1}',
    ),
    (
        '{"type":"bytes","scale":0,"precision":4,"logicalType":"decimal","zz":1}',
        '{"type":"bytes","logicalType":"decimal","precision":4,"scale":0,"zz":1}',
    ),
    (
        '{"type":"bytes","scale":9,"precision":4,"logicalType":"decimal","a":1}',
        '{"type":"bytes","a":1,"logicalType":"decimal","precision":4,"scale":9}',
    ),
    (
        '{"type":"fixed","name":"F","size":12,"b":1,"logicalType":"duration","a":1}',
        '{"type":"fixed","name":"F","size":12,"logicalType":"duration","a":1,"b":1}',
    ),
    ('{"type":"error","name":"R","fields":[]}', '{"type":"record","name":"R","fields":[]}'),
    (
        RECORD.format(
            '{"name":"a","type":"double","default":1},{"name":"b","type":"float","default":0.1},'
            '{"name":"c","type":"float","default":16777217},{"name":"d","type":["null","float"],"default":1},'
            '{"name":"e","type":{"type":"map","values":"double"},"default":{"b":1,"a":2}},'
            '{"name":"f","type":"long","default":1}'
        ),
        RECORD.format(
            '{"name":"a","type":"double","default":1.0},{"name":"b","type":"float","default":0.1},'
            '{"name":"c","type":"float","default":1.6777216E7},{"name":"d","type":["null","float"]},'
            '{"name":"e","type":{"type":"map","values":"double"},"default":{"a":2.0,"b":1.0}},'
            '{"name":"f","type":"long","default":1}'
        ),
    ),
]


@pytest.mark.parametrize(("text", "normalized"), NORMALIZED, ids=range(len(NORMALIZED)))
def test_normalized_text(text: str, normalized: str):
    assert schema(text).normalized() == normalized
    assert schema(normalized).normalized() == normalized
    assert schema(normalized).canonical == normalized


COUNTRY = '{"type":"enum","name":"Country","namespace":"geo","symbols":["A","B"]}'
ADDRESS = (
    '{"type":"record","name":"Address","namespace":"geo","fields":[{"name":"country","type":"Country"},'
    '{"name":"zip","type":{"type":"fixed","name":"Zip","size":5}}]}'
)
PERSON = (
    '{"type":"record","name":"Person","namespace":"hr","fields":[{"name":"home","type":"geo.Address"},'
    '{"name":"from","type":"geo.Country"},{"name":"zip","type":"geo.Zip"}]}'
)


def test_references_stay_names():
    person = schema(PERSON, COUNTRY, ADDRESS)
    assert person.canonical == PERSON
    assert person.normalized() == PERSON
    assert person.rendered("") == person.rendered("no such form") == PERSON
    assert (person.full_name, person.top_level_fields) == ("hr.Person", ("home", "from", "zip"))


def test_resolved_form_spells_references_out():
    resolved = schema(PERSON, COUNTRY, ADDRESS).rendered("resolved")
    assert resolved == (
        '{"type":"record","name":"Person","namespace":"hr","fields":[{"name":"home","type":{"type":"record",'
        '"name":"Address","namespace":"geo","fields":[{"name":"country","type":{"type":"enum","name":"Country",'
        '"symbols":["A","B"]}},{"name":"zip","type":{"type":"fixed","name":"Zip","size":5}}]}},'
        '{"name":"from","type":"geo.Country"},{"name":"zip","type":"geo.Zip"}]}'
    )
    assert schema(resolved).canonical == resolved


def test_a_reference_may_be_the_whole_schema():
    country = schema('"geo.Country"', COUNTRY)
    assert (country.canonical, country.rendered("resolved")) == ('"geo.Country"', COUNTRY)
    address = schema('"geo.Address"', COUNTRY, ADDRESS)
    assert (address.full_name, address.top_level_fields) == ("geo.Address", ("country", "zip"))


def test_a_schema_may_repeat_but_not_change_a_type_of_its_reference():
    text = '{{"type":"array","items":{}}}'
    assert schema(text.format(COUNTRY), COUNTRY).canonical == '{"type":"array","items":"geo.Country"}'
    with pytest.raises(InvalidSchema) as refused:
        schema(text.format(COUNTRY.replace('"B"', '"C"')), COUNTRY)
    assert refused.value == InvalidSchema(AVRO, "Can't redefine: geo.Country", Position(1, 17))


def test_many_repetitions_of_a_definition_are_compared_in_time():
    big = '{"type":"enum","name":"Big","symbols":[' + ",".join(f'"S{number}"' for number in range(20_000)) + "]}"
    small = '{"type":"record","name":"Small","fields":[{"name":"big","type":"Big"}]}'
    fields = ",".join(f'{{"name":"f{number}","type":{small}}}' for number in range(3000))
    text = f'{{"type":"record","name":"R","fields":[{{"name":"big","type":{big}}},{fields}]}}'
    assert len(schema(text).canonical) < 500_000


def test_a_broken_reference_is_named():
    with pytest.raises(InvalidSchema) as refused:
        schema('"int"', COUNTRY, '"geo.City"')
    assert refused.value == InvalidSchema(AVRO, "Reference d1: Undefined schema: geo.City")


def test_references_are_read_leniently():
    loose = '{"type":"record","name":"L","fields":[{"name":"a-b","type":"int","default":"x"}]}'
    assert schema('"L"', loose).canonical == '"L"'


def test_only_records_have_a_full_name():
    assert schema(COUNTRY).full_name is None
    assert schema("[]").top_level_fields == ()


def test_references_that_nest_deeper_than_any_text_are_printed():
    texts = ['{"type":"record","name":"N0","fields":[]}']
    texts += [f'{{"type":"record","name":"N{n}","fields":[{{"name":"f","type":"N{n - 1}"}}]}}' for n in range(1, 2000)]
    resolved = schema('"N1999"', *texts).rendered("resolved")
    assert resolved.count('"type":"record"') == 2000
    assert resolved.endswith("}" + "}]}" * 1999)


def test_a_chain_of_references_is_read_once_each(monkeypatch: pytest.MonkeyPatch):
    texts = ['{"type":"record","name":"chain.R0","fields":[]}']
    for number in range(1, 50):
        field = f'{{"name":"before","type":"chain.R{number - 1}"}}'
        texts.append(f'{{"type":"record","name":"chain.R{number}","fields":[{field}]}}')
    dependencies = [Dependency(f"chain.R{number}", text) for number, text in enumerate(texts)]
    read: list[str] = []
    parse_one = Parser.parse

    def count(parser: Parser, text: str, *, strict: bool) -> Node:
        read.append(text)
        return parse_one(parser, text, strict=strict)

    monkeypatch.setattr(Parser, "parse", count)
    schemas = [
        parse(SchemaText(AVRO, text), tuple(dependencies[:number]), strict=True) for number, text in enumerate(texts)
    ]
    assert len(read) == 2 * len(texts) - 1
    monkeypatch.undo()
    assert schemas[-1].rendered("resolved").count('"name":"R') == 50
    other = Dependency("chain.R0", '{"type":"record","name":"chain.R0","fields":[{"name":"x","type":"int"}]}')
    changed = parse(SchemaText(AVRO, texts[1]), (other,), strict=True)
    assert '"name":"x"' in changed.rendered("resolved")
    with pytest.raises(InvalidSchema, match="Reference bad: "):
        parse(SchemaText(AVRO, texts[1]), (*dependencies[:1], Dependency("bad", "{")), strict=True)


DEFAULTS = [
    ('["null","int"]', "-5", None),
    ('["int","null"]', "null", "null"),
    ('["null","boolean"]', "true", "true"),
    ('["int","string"]', '"x"', None),
    ('["string","int"]', '"x"', '"x"'),
    ('["int","long"]', "5000000000", None),
    ('["int","long"]', "2147483647", "2147483647"),
    ('["int","long"]', "2147483648", None),
    ('["int","long"]', "-2147483648", "-2147483648"),
    ('["int","long"]', "-2147483649", None),
    ('["long","int"]', "5000000000", "5000000000"),
    ('["float","int"]', "1", "1.0"),
    ('["int","double"]', "1.5", None),
    ('["null",{"type":"array","items":"int"}]', "[]", "[]"),
    ('{"type":"array","items":["null","int"]}', "[1,null]", "[null,null]"),
    ('{"type":"map","values":["string","int"]}', '{"b":1,"a":"x"}', '{"a":"x","b":null}'),
]


@pytest.mark.parametrize(("kind", "default", "normalized"), DEFAULTS)
def test_normalizing_keeps_a_union_default_of_the_first_branch(kind: str, default: str, normalized: str | None):
    text = RECORD.format(f'{{"name":"a","type":{kind},"default":{default}}}')
    shown = "" if normalized is None else f',"default":{normalized}'
    assert schema(text, strict=True).normalized() == RECORD.format(f'{{"name":"a","type":{kind}{shown}}}')
    assert f'"default":{default}' in schema(text, strict=True).canonical


SHARED = (
    '{"type":"record","name":"R","fields":[{"name":"a","type":"int","aliases":["b","c"],"p":1,"q":{"x":1,"y":2}}]%s}'
)
LISTS = (
    '{"type":"record","name":"R","fields":[{"name":"a","type":{"type":"map","values":{"type":"array","items":"string"}},'
    '"default":{"aliases":[%s]}}]}'
)
SAME = [
    (SHARED % "", SHARED.replace('"b","c"', '"c","b"') % "", True),
    (SHARED % "", SHARED.replace('"p":1,"q":{"x":1,"y":2}', '"q":{"y":2,"x":1},"p":1') % "", True),
    (SHARED % ',"aliases":["S","T"]', SHARED % ',"aliases":["T","S"]', True),
    (SHARED % "", SHARED.replace('"x":1,"y":2', '"x":2,"y":1') % "", False),
    (SHARED % "", SHARED.replace('"b","c"', '"b","d"') % "", False),
    ('{"type":"enum","name":"E","symbols":["A","B"]}', '{"type":"enum","name":"E","symbols":["B","A"]}', False),
    ('["int","string"]', '["string","int"]', False),
    (
        '{"type":"record","name":"R","fields":[{"name":"a","type":"int"},{"name":"b","type":"int"}]}',
        '{"type":"record","name":"R","fields":[{"name":"b","type":"int"},{"name":"a","type":"int"}]}',
        False,
    ),
    (
        '{"type":"map","values":{"type":"fixed","name":"F","size":1,"aliases":["G","H"]}}',
        '{"type":"map","values":{"type":"fixed","name":"F","size":1,"aliases":["H","G"]}}',
        True,
    ),
    (LISTS % '"b","c"', LISTS % '"c","b"', False),
]


@pytest.mark.parametrize(("text", "other", "same"), SAME, ids=range(len(SAME)))
def test_the_order_of_aliases_and_properties_does_not_count(text: str, other: str, same: bool):
    assert is_same(schema(text), schema(other), False) is same
    assert is_same(schema(other), schema(text), False) is same
