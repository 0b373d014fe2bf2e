"""The ids of the source's topics in our part of the checkpoint: which topic each batch read under a name."""

from __future__ import annotations

import orjson

from spark_avro.pipeline.folder import Folder
from spark_avro.pipeline.sources.topic_ids import TopicIdsByName

_FOLDER = "_magicbyte/topics"


class TopicLog:
    """The topic ids of each batch. A file is written once, before the first batch that reads a topic of that id.

    The driver that has the checkpoint's lease is its only writer.
    """

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        # BATCH-COUNTER.json: all ids from that batch on.
        self._entries = {_place(name): _read(folder, name) for name in folder.names(_FOLDER) if _is_entry(name)}

    def ids(self, number: int) -> TopicIdsByName:
        """The ids of the topics that a batch reads."""
        places = [place for place in self._entries if place[0] <= number]
        return self._entries[max(places)] if places else {}

    def former_ids(self, number: int) -> dict[str, tuple[str, ...]]:
        """The ids that the topics of a batch had in earlier batches, oldest first; only topics that were replaced."""
        former: dict[str, list[str]] = {}
        now = self.ids(number)
        for place in sorted(place for place in self._entries if place[0] <= number):
            for topic, topic_id in self._entries[place].items():
                if topic_id != now.get(topic) and topic_id not in former.get(topic, ()):
                    former.setdefault(topic, []).append(topic_id)
        return {topic: tuple(ids) for topic, ids in former.items()}

    def record(self, number: int, ids: TopicIdsByName) -> None:
        """Keep ids for a batch and all later ones; topics without a new id keep theirs."""
        before = self.ids(number)
        if all(before.get(topic) == topic_id for topic, topic_id in ids.items()):
            return
        place = (number, sum(other[0] == number for other in self._entries))
        entry = {**before, **ids}
        self._folder.write(f"{_FOLDER}/{place[0]}-{place[1]}.json", orjson.dumps(entry).decode())
        self._entries[place] = entry


def _is_entry(name: str) -> bool:
    return name.endswith(".json") and not name.startswith(".")


def _place(name: str) -> tuple[int, int]:
    number, _, counter = name.removesuffix(".json").partition("-")
    return int(number), int(counter)


def _read(folder: Folder, name: str) -> dict[str, str]:
    return dict(orjson.loads(folder.read(f"{_FOLDER}/{name}") or "{}"))
