"""Reads pipelines from files: merges includes, applies `--set`, checks all settings, reports all findings at once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from magicbyte.kit.bounded_file import read_bounded, real_path
from magicbyte.kit.settings.kinds import Reading
from magicbyte.kit.settings.nodes import BROKEN, Entry, ListNode, MapNode, Node, ScalarNode
from magicbyte.kit.settings.place import Finding, Place
from magicbyte.kit.settings.section import read_section
from spark_avro.pipeline.file.nodes import Placeholders, read_documents, scalar_node
from spark_avro.pipeline.file.pipeline import Pipeline
from spark_avro.pipeline.file.place import PipelineError, error_at

#: The longest file, in bytes; what its values may cost is bounded by their number.
_MOST_BYTES = 1024 * 1024


def read_pipelines(
    path: str | Path, *, overrides: Sequence[str] = (), placeholders: Placeholders = Placeholders.RESOLVE
) -> tuple[Pipeline, ...]:
    """The pipelines of a file, one for each document.

    Args:
        path: The file.
        overrides: Settings that override the file's, as `source.start=latest`.
        placeholders: What becomes of placeholders; by CHECK, a pipeline that has one without a value is left out.

    Raises:
        PipelineError: the file cannot be read, or settings are wrong; has all findings.
    """
    return pipelines_of(merged_documents(path, overrides=overrides, placeholders=placeholders))


def pipelines_of(documents: Sequence[MapNode]) -> tuple[Pipeline, ...]:
    """The pipelines of the documents of a file.

    Raises:
        PipelineError: settings are wrong; has all findings.
    """
    reading = Reading()
    pipelines = [read_section(Pipeline, document, reading, "") for document in documents]
    pipelines = [pipeline for pipeline in pipelines if pipeline is not BROKEN]
    _refuse_same_names(pipelines, reading)
    if reading.findings:
        raise PipelineError(reading.findings)
    return tuple(pipelines)


def merged_documents(
    path: str | Path, *, overrides: Sequence[str] = (), placeholders: Placeholders = Placeholders.RESOLVE
) -> tuple[MapNode, ...]:
    """The documents of a file, each merged over the files that it includes, with the overrides.

    Args:
        path: The file.
        overrides: As in `read_pipelines`.
        placeholders: What becomes of placeholders.

    Raises:
        PipelineError: the file cannot be read, or a document is no mapping.
    """
    documents = _documents(Path(path), placeholders)
    if not documents:
        raise error_at(Place(str(path)), "", "has no pipeline")
    merged: list[MapNode] = []
    for document in documents:
        if not isinstance(document, MapNode):
            raise error_at(document.place, "", "a pipeline must be a mapping of settings")
        whole = _with_includes(document, (real_path(Path(path)),), placeholders)
        for override in overrides:
            whole = _overridden(whole, override, placeholders)
        merged.append(whole)
    return tuple(merged)


def included_files(path: str | Path, placeholders: Placeholders = Placeholders.RESOLVE) -> dict[Path, str]:
    """All files that a file includes, itself or by other files, with the paths that their `include` settings give.

    Args:
        path: A file that `merged_documents` reads without findings.
        placeholders: What becomes of placeholders.
    """
    files: dict[Path, str] = {}
    for document in _documents(Path(path), placeholders):
        entry = document.entries.get("include") if isinstance(document, MapNode) else None
        if entry is None:
            continue
        for node in entry.node.items if isinstance(entry.node, ListNode) else (entry.node,):
            assert isinstance(node, ScalarNode)
            # Includes count from the file that a link points to.
            target = real_path(Path(path)).parent / str(node.value)
            files |= {target: str(node.value), **included_files(target, placeholders)}
    return files


def read_pipeline(path: str | Path, *, name: str | None = None, overrides: Sequence[str] = ()) -> Pipeline:
    """The pipeline of a file; if the file has several, the one with this name.

    Raises:
        PipelineError: as `read_pipelines` and `chosen`.
    """
    return chosen(read_pipelines(path, overrides=overrides), path, name)


def chosen(pipelines: Sequence[Pipeline], path: str | Path, name: str | None) -> Pipeline:
    """The pipeline with a name.

    Raises:
        PipelineError: the name is None and there are several, or none has this name.
    """
    if name is None and len(pipelines) == 1:
        return pipelines[0]
    found = [pipeline for pipeline in pipelines if pipeline.name == name]
    if found:
        return found[0]
    names = ", ".join(pipeline.name for pipeline in pipelines)
    problem = "has several pipelines; choose one with --name" if name is None else f"has no pipeline {name!r}"
    raise error_at(Place(str(path)), "", f"{problem}: {names}")


def _documents(path: Path, placeholders: Placeholders) -> list[Node]:
    try:
        text = read_bounded(path, most=_MOST_BYTES).decode()
    except OSError as error:
        raise error_at(Place(str(path)), "", f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise error_at(Place(str(path)), "", "is no UTF-8 text") from None
    return read_documents(text, str(path), placeholders)


def _with_includes(document: MapNode, inside: tuple[Path, ...], placeholders: Placeholders) -> MapNode:
    """The document merged over the files that it includes; paths are relative to the file that names them."""
    entry = document.entries.get("include")
    if entry is None:
        return document
    named = entry.node.items if isinstance(entry.node, ListNode) else (entry.node,)
    whole = MapNode(document.place, {})
    for node in named:
        if not isinstance(node, ScalarNode) or not isinstance(node.value, str):
            raise error_at(node.place, "include", "must be a file, or a list of files")
        target = real_path(inside[-1].parent / node.value)
        if target in inside:
            raise error_at(node.place, "include", f"{node.value} includes itself")
        try:
            documents = _documents(target, placeholders)
        except PipelineError:
            if not target.is_file():
                raise error_at(node.place, "include", f"{node.value} cannot be read") from None
            raise
        if len(documents) != 1 or not isinstance(documents[0], MapNode):
            raise error_at(node.place, "include", f"{node.value} must be one mapping of settings")
        whole = _merged(whole, _with_includes(documents[0], (*inside, target), placeholders))
    return _merged(whole, document)


def _merged(under: MapNode, over: MapNode) -> MapNode:
    """Merge two mappings: mappings in both are merged, and for other values the second wins."""
    entries = dict(under.entries)
    for key, entry in over.entries.items():
        below = entries.get(key)
        if below is not None and isinstance(below.node, MapNode) and isinstance(entry.node, MapNode):
            entries[key] = Entry(entry.key, _merged(below.node, entry.node))
        else:
            entries[key] = entry
    return MapNode(over.place, entries)


def _overridden(document: MapNode, override: str, placeholders: Placeholders) -> MapNode:
    name, equals, text = override.partition("=")
    place = Place(f"--set {name}")
    if not equals or not name:
        raise PipelineError([Finding(Place("--set"), "", f"must be name=value, not {override!r}")])
    return _set(document, name, scalar_node(text, place, placeholders), place)


#: Mappings whose keys have dots: the rest of a path after their name is one key.
_WITH_DOTS = frozenset({"kafka", "spark", "options", "properties"})


def _set(parent: Node, name: str, value: Node, place: Place, *, in_properties: bool = False) -> MapNode:
    """The mapping with a value set at a path; creates missing mappings on the path; list items are named by number."""
    assert isinstance(parent, MapNode)
    first, dot, rest = name.partition(".")
    if not dot or in_properties:
        return MapNode(parent.place, {**parent.entries, name: Entry(place, value)})
    entry = parent.entries.get(first)
    child = entry.node if entry is not None else MapNode(place, {})
    if isinstance(child, ListNode):
        new: Node = _set_item(child, rest, value, place)
    elif isinstance(child, MapNode):
        # `kafka` is also the name of a sink, whose settings are not properties of a client.
        is_properties = first in _WITH_DOTS and not place.file.startswith(("--set sink.", "--set sinks."))
        new = _set(child, rest, value, place, in_properties=is_properties)
    else:
        raise error_at(place, "", f"{first} is no mapping")
    return MapNode(parent.place, {**parent.entries, first: Entry(entry.key if entry else place, new)})


def _set_item(parent: ListNode, name: str, value: Node, place: Place) -> ListNode:
    first, dot, rest = name.partition(".")
    if not first.isdecimal() or int(first) >= len(parent.items):
        raise error_at(place, "", f"{first!r} is no number of an item; there are {len(parent.items)}, from 0")
    number = int(first)
    item = parent.items[number]
    if dot and not isinstance(item, MapNode):
        raise error_at(place, "", f"item {first} is no mapping")
    new = _set(item, rest, value, place) if dot else value
    return ListNode(parent.place, (*parent.items[:number], new, *parent.items[number + 1 :]))


def _refuse_same_names(pipelines: Sequence[Pipeline], reading: Reading) -> None:
    names: set[str] = set()
    for pipeline in pipelines:
        if pipeline.name in names:
            reading.report(
                pipeline.at("name"), "name", f"{pipeline.name} stands here twice; names are unique in a file"
            )
        names.add(pipeline.name)
