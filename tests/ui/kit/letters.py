"""Dead letters of all forms, for tests of their views."""

from __future__ import annotations

from serdes.message import wire
from tests.serdes.letters.letter_topic import OCTOBER, VALUE, LetterTopic

NO_ID = 999_999


def fill(desk: LetterTopic) -> int:
    """Letters of all forms; those of offsets 0 to 2 may be sent, and that of offset 3 with a fix."""
    schema_id = desk.register()
    good = wire.prefix(schema_id) + VALUE
    exception = "org.apache.kafka.common.errors.SerializationException"
    desk.bury(good, 0, stage="TASK_PUT", message="the database was away", timestamp=OCTOBER)
    desk.bury(good, 1, "streams", stage=None, exception=exception, message="no schema yet")
    desk.bury(good, 2, "spring", stage=None, exception=exception, message="no schema yet", connector="shop")
    desk.bury(wire.prefix(NO_ID) + VALUE, 3, message=f"Schema {NO_ID} not found", stacktrace="at a.b.C(C.java:7)")
    desk.bury(wire.prefix(schema_id) + VALUE[:-1], 4, message="truncated at byte 6", schema_id=schema_id)
    desk.bury(None, 5, stage="TASK_PUT", masked=True, message="the database was away")
    desk.put(b"plain", b"k", [], OCTOBER + 6)
    return schema_id
