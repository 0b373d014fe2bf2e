"""Finds the pipeline files of folders."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

from magicbyte.kit.bounded_file import read_bounded, real_path
from magicbyte.kit.settings.section import settings_of
from spark_avro.pipeline.file.pipeline import Pipeline

_ENDS = (".yaml", ".yml")
#: A file with three of these settings is a pipeline; other kinds of files rarely have three. `sinks` counts as `sink`.
_MARKS = frozenset({"version", "name", "include", "checkpoint", "source", "sink"})
_ENOUGH = 3
_MARK = re.compile(rf"""^["']?({"|".join(sorted(_MARKS))}|sinks)["']?[ \t]*:""", re.MULTILINE)
#: The bytes in which these settings are looked for.
_LOOK = 1024 * 1024


@dataclass(frozen=True, slots=True)
class YamlFile:
    """A YAML file by the keys at its top.

    Attributes:
        path: The file.
        is_pipeline: Whether it is meant as a pipeline, perhaps one with errors.
        has_name: Whether it names a pipeline.
        includes: The files that it includes, without links.
    """

    path: Path
    is_pipeline: bool
    has_name: bool = False
    includes: tuple[Path, ...] = ()

    @staticmethod
    def read(path: Path, folder: Path) -> YamlFile:
        """Read the keys of a file.

        Args:
            path: The file.
            folder: The folder that links must not lead out of.

        Raises:
            FileRefused: it is no regular file, or a link leads out of the folder.
            OSError: it cannot be read.
        """
        text = read_bounded(path, most=_LOOK, inside=folder, cut=True).decode(errors="replace")
        documents, is_yaml = _documents(text)
        if not is_yaml:
            # The keys that are meant, whatever is wrong around them.
            documents.append({key: [] for key in _MARK.findall(text)})
        names = [name for document in documents for name in document.get("include", [])]
        includes = tuple(real_path(real_path(path).parent / name) for name in names if "\0" not in name)
        has_name = any("name" in document for document in documents)
        return YamlFile(path, any(map(_is_pipeline, documents)), has_name, includes)


def yaml_files(folder: Path, on_error: Callable[[OSError], object]) -> Iterator[Path]:
    """The YAML files below a folder in the order of their paths; hidden folders, and links to folders, are left out.

    Args:
        folder: The folder.
        on_error: Receives the error of a folder that cannot be listed.
    """
    for parent, folders, names in os.walk(folder, onerror=on_error):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(parent, name) for name in sorted(names) if name.endswith(_ENDS))


def _is_pipeline(document: dict[str, list[str]]) -> bool:
    marks = {"sink" if key == "sinks" else key for key in document} & _MARKS
    if len(marks) >= _ENOUGH:
        return True
    # Compose files have both keys, too, beside others that a pipeline has not.
    return marks >= {"include", "name"} and set(document) <= {setting.name for setting in settings_of(Pipeline)}


def _documents(text: str) -> tuple[list[dict[str, list[str]]], bool]:
    """The keys at the top of each document with their texts, up to the first error; and whether there is none.

    The parser's events take no stack: a composer would end the process for a text that is nested too deeply.
    """
    documents: list[dict[str, list[str]]] = []
    depth, is_mapping = 0, False
    key: str | None = None
    try:
        for event in yaml.parse(text, Loader=yaml.CSafeLoader):
            if isinstance(event, yaml.DocumentStartEvent):
                documents.append({})
                key = None
            elif isinstance(event, yaml.CollectionStartEvent):
                if depth == 0:
                    is_mapping = isinstance(event, yaml.MappingStartEvent)
                depth += 1
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
                key = None if depth == 1 else key
            elif isinstance(event, yaml.NodeEvent) and is_mapping and depth in (1, 2):
                text_of = event.value if isinstance(event, yaml.ScalarEvent) else ""
                if key is not None:
                    documents[-1][key].append(text_of)
                    key = None if depth == 1 else key
                elif depth == 1:
                    key = text_of
                    documents[-1].setdefault(key, [])
    except yaml.YAMLError:
        return documents, False
    return documents, True
