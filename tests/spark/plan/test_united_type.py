"""The type of two types, and columns in it."""

from __future__ import annotations

import pytest
from pyspark.sql import Row, SparkSession
from pyspark.sql import types as spark_types
from pyspark.sql.types import _parse_datatype_string

from spark_avro.plan.united_type import TypesDoNotFit, as_type, united_type


def kind(text: str) -> spark_types.DataType:
    return _parse_datatype_string(text)


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("int", "int", "int"),
        ("tinyint", "smallint", "smallint"),
        ("bigint", "int", "bigint"),
        ("int", "float", "double"),
        ("float", "double", "double"),
        ("decimal(5,2)", "double", "double"),
        ("decimal(5,2)", "decimal(6,4)", "decimal(7,4)"),
        ("decimal(10,2)", "int", "decimal(12,2)"),
        ("decimal(4,2)", "bigint", "decimal(22,2)"),
        ("void", "date", "date"),
        ("date", "void", "date"),
        ("struct<a:int,b:string>", "struct<b:string,c:date,A:bigint>", "struct<a:bigint,b:string,c:date>"),
        ("struct<a:struct<x:int>>", "struct<a:struct<y:int>>", "struct<a:struct<x:int,y:int>>"),
        ("array<int>", "array<bigint>", "array<bigint>"),
        ("map<string,struct<x:int>>", "map<string,struct<y:int>>", "map<string,struct<x:int,y:int>>"),
    ],
)
def test_two_types_unite(one: str, other: str, expected: str) -> None:
    assert united_type(kind(one), kind(other)).simpleString() == expected


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize(
    ("one", "other", "path"),
    [
        ("struct<id:int>", "struct<id:string>", "id"),
        ("struct<a:struct<b:array<struct<c:date>>>>", "struct<a:struct<b:array<struct<c:timestamp>>>>", "a.b[].c"),
        ("struct<m:map<string,int>>", "struct<m:map<string,boolean>>", "m{}"),
        ("struct<m:map<string,int>>", "struct<m:map<int,int>>", "m"),
        ("struct<d:decimal(38,0)>", "struct<d:decimal(38,1)>", "d"),
        ("struct<a:int>", "struct<a:struct<b:int>>", "a"),
        ("string", "binary", ""),
    ],
)
def test_two_types_do_not_fit(one: str, other: str, path: str) -> None:
    with pytest.raises(TypesDoNotFit) as misfit:
        united_type(kind(one), kind(other))
    assert misfit.value.path == path


def test_names_that_differ_in_case_are_two_fields_if_spark_says_so() -> None:
    one = spark_types.StructType([spark_types.StructField("a", spark_types.IntegerType())])
    other = spark_types.StructType([spark_types.StructField("A", spark_types.IntegerType())])
    assert united_type(one, other, case_sensitive=True).simpleString() == "struct<a:int,A:int>"


def test_values_keep_their_places(spark: SparkSession) -> None:
    rows = spark.sql(
        "select named_struct('n', 1, 'in', named_struct('x', 2), 'many', array(named_struct('x', 3), null),"
        " 'by', map('k', 4)) as s union all select null"
    )
    target = kind(
        "struct<more:date,N:bigint,in:struct<y:int,x:int>,many:array<struct<x:int,y:int>>,by:map<string,double>>"
    )
    values = [row.s for row in rows.select(as_type(rows["s"], rows.schema["s"].dataType, target).alias("s")).collect()]
    assert values == [
        Row(more=None, N=1, **{"in": Row(y=None, x=2)}, many=[Row(x=3, y=None), None], by={"k": 4.0}),
        None,
    ]
