"""PySpark functions and pipelines for Confluent-format data.

Names are imported when they are first used: checking a pipeline file needs neither PySpark nor its start-up time.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from magicbyte.kit.extras import require

if TYPE_CHECKING:
    from spark_avro.functions import confluent_schema_guid, confluent_schema_id, from_confluent_avro
    from spark_avro.json_schema.functions import confluent_json_udf, from_confluent_json, to_confluent_json
    from spark_avro.pipeline.api import pipeline
    from spark_avro.plan.encoding import to_confluent_avro
    from spark_avro.plan.outcomes import KAFKA_POSITION
    from spark_avro.protobuf.functions import confluent_protobuf_udf, from_confluent_protobuf, to_confluent_protobuf
    from spark_avro.records import from_confluent_avro_records
    from spark_avro.spark_session import packages, session
    from spark_avro.streams.followers import Follower
    from spark_avro.streams.following import follow
    from spark_avro.workers.avro import confluent_avro_udf

__all__ = [
    "KAFKA_POSITION",
    "Follower",
    "confluent_avro_udf",
    "confluent_json_udf",
    "confluent_protobuf_udf",
    "confluent_schema_guid",
    "confluent_schema_id",
    "follow",
    "from_confluent_avro",
    "from_confluent_avro_records",
    "from_confluent_json",
    "from_confluent_protobuf",
    "packages",
    "pipeline",
    "session",
    "to_confluent_avro",
    "to_confluent_json",
    "to_confluent_protobuf",
]

#: Public name -> its module.
_MODULES = {
    "KAFKA_POSITION": "plan.outcomes",
    "Follower": "streams.followers",
    "confluent_avro_udf": "workers.avro",
    "confluent_json_udf": "json_schema.functions",
    "confluent_protobuf_udf": "protobuf.functions",
    "confluent_schema_guid": "functions",
    "confluent_schema_id": "functions",
    "follow": "streams.following",
    "from_confluent_avro": "functions",
    "from_confluent_avro_records": "records",
    "from_confluent_json": "json_schema.functions",
    "from_confluent_protobuf": "protobuf.functions",
    "packages": "spark_session",
    "session": "spark_session",
    "to_confluent_avro": "plan.encoding",
    "to_confluent_json": "json_schema.functions",
    "to_confluent_protobuf": "protobuf.functions",
}


def __getattr__(name: str) -> Any:
    if name == "pipeline":
        return import_module(f"{__name__}.pipeline")
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    require("spark", user="spark_avro", modules=("pyspark",))
    value = getattr(import_module(f"{__name__}.{module}"), name)
    globals()[name] = value
    return value
