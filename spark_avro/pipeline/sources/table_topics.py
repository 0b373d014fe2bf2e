"""Topics that steps join as tables: a new query reads them to their ends before any other topic.

The first batches of a query subscribe to these topics alone. When the ends are reached, the offsets at which all other
topics begin are added to the last finished batch, and the next query reads all topics from there. So the checkpoint
itself says whether the tables are loaded: its offsets have the other topics, or not. A crash before that repeats a part
of the loading, and no row is joined.
"""

from __future__ import annotations

import logging
from collections.abc import Collection

from spark_avro.pipeline.sources.checkpoint import Checkpoint
from spark_avro.pipeline.sources.checkpoint_reader import Offsets
from spark_avro.pipeline.sources.source import Source

log = logging.getLogger(__name__)


class TableTopics:
    """The topics of a pipeline that are joined as tables, and whether its checkpoint has read them once."""

    def __init__(self, source: Source, checkpoint: Checkpoint) -> None:
        self._source = source
        self._checkpoint = checkpoint

    def to_load(self) -> Collection[str]:
        """The topics that the next query reads alone; none if they are loaded, or if there are none.

        Raises:
            KafkaException: the broker does not answer.
        """
        topics = self._source.table_topics
        if not topics or self._is_loaded():
            return ()
        if not self._checkpoint.first_offsets():
            self._checkpoint.note_first_offsets(self._source.stream_starts())
        if not self._checkpoint.has_batches() and not self._source.has_table_records():
            return ()
        log.info(
            "reading %s to the end, before other records are joined",
            ", ".join(sorted(topics)),
            extra={"event": "tables_read_first"},
        )
        return topics

    def starts(self) -> Offsets:
        """The offsets at which a query that has no batch yet begins."""
        if not self._source.table_topics:
            return self._checkpoint.anew_from
        return self._checkpoint.first_offsets()

    def loaded(self) -> None:
        """Let the next query read all topics: the tables were read to their ends."""
        planned = self._checkpoint.last_planned()
        if planned is not None and self._checkpoint.has_batches() and planned == self._checkpoint.last_committed():
            self._checkpoint.add_offsets(planned, self._checkpoint.first_offsets())

    def _is_loaded(self) -> bool:
        planned = self._checkpoint.last_planned()
        if planned is None or not self._checkpoint.has_batches():
            return False
        return bool(self._checkpoint.ends(planned).keys() - self._source.table_topics)
