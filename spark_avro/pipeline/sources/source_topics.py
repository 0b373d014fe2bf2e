"""Topics that were deleted and made again while a checkpoint has offsets of the topics before them."""

from __future__ import annotations

import logging
from collections.abc import Collection

from spark_avro.pipeline.ports import BatchIdentity
from spark_avro.pipeline.sources.checkpoint import Checkpoint
from spark_avro.pipeline.sources.source import Source
from spark_avro.pipeline.sources.topic_ids import TopicReplaced
from spark_avro.pipeline.sources.topic_log import TopicLog

log = logging.getLogger(__name__)


class SourceTopics:
    """The topics of a checkpoint: which ids its batches read, and what happens if a topic has another id now.

    A batch that was planned on a topic that is gone keeps its number and its offsets, because a sink may have written
    it. It leaves the new topic's records out. Then one entry of the checkpoint leads back to the new topic's beginning.
    """

    def __init__(self, source: Source, checkpoint: Checkpoint) -> None:
        self._source = source
        self._checkpoint = checkpoint
        self._log = TopicLog(checkpoint.folder)
        # Spark repeats a planned batch, whose identity must not get ids that its first attempt did not have.
        self._planned = -1

    def begin(self, *, can_rewind: bool = True) -> bool:
        """Compare the topics with the checkpoint before a query starts, and keep the ids of new topics.

        Args:
            can_rewind: Whether the next batch may read a topic from other offsets; not with state of the former topic.

        Returns:
            Whether the planned batch has to be finished first, by a query of its own.

        Raises:
            TopicReplaced: a topic was deleted and made again, and on-data-loss is fail.
            KafkaException: the broker does not answer.
        """
        planned, committed = self._checkpoint.last_planned(), self._checkpoint.last_committed()
        self._planned = -1 if planned is None else planned
        following = self._planned + 1
        replaced = self._source.replaced(self._log.ids(following))
        if replaced and self._checkpoint.has_batches():
            assert planned is not None
            if not can_rewind:
                names = ", ".join(sorted(replaced))
                raise TopicReplaced(
                    f"deleted and made again since the checkpoint was written: {names}. The state has rows of the"
                    " former topic. "
                    + (
                        "Run once with --new-state: the new topic is then read from its beginning"
                        if planned == committed
                        else "The unfinished batch cannot be repeated without them: begin with a new checkpoint"
                    )
                )
            if planned != committed:
                return True
            following = self._rewind(replaced, planned)
        elif replaced:
            self._checkpoint.forget_start(self._source.first_offsets(replaced))
        self._log.record(following, self._source.topic_ids(self._source.topics()))
        return False

    def identity(self, pipeline: str, number: int) -> BatchIdentity:
        """The identity of a batch; the ids of topics that it is the first to read are kept before."""
        topics = self._checkpoint.ends(number).keys()
        unknown = topics - self._log.ids(number).keys()
        if unknown and number > self._planned:
            self._log.record(number, self._source.topic_ids(unknown))
        ranges, tables = self._checkpoint.ranges(number), self._source.table_topics
        return BatchIdentity(
            pipeline,
            self._checkpoint.query_id() or "",
            number,
            tuple(part for part in ranges if part.topic not in tables),
            {topic: topic_id for topic, topic_id in self._log.ids(number).items() if topic in topics},
            {topic: ids for topic, ids in self._log.former_ids(number).items() if topic in topics},
            "" if topics else self._checkpoint.files_digest(number),
            table_ranges=tuple(part for part in ranges if part.topic in tables),
        )

    def check(self) -> None:
        """Compare the topics with the checkpoint after a failure.

        Raises:
            TopicReplaced: a topic was deleted and made again, and on-data-loss is fail.
            KafkaException: the broker does not answer.
        """
        self._source.replaced(self._log.ids(self._planned + 1))

    def _rewind(self, replaced: Collection[str], number: int) -> int:
        starts = self._source.first_offsets(replaced)
        for topic in sorted(replaced):
            ends = self._checkpoint.ends(number).get(topic, {})
            log.warning(
                "topic %s was deleted and made again: it is read from its beginning; the records of the old topic after"
                " batch %d are lost (it ended before %s)",
                topic,
                number,
                ", ".join(f"offset {end} of partition {partition}" for partition, end in sorted(ends.items())),
                extra={"event": "topic_recreated", "topic": topic, "batch": number},
            )
        return self._checkpoint.rewind(number, starts)
