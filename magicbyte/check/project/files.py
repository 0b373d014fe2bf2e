"""The schema files of a project: in the working folder, at a commit, or in another folder."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from compat.schema import InvalidSchema, Position
from magicbyte.check.config.config import Config, Entry
from magicbyte.check.findings import START, Finding
from magicbyte.check.project.avro_file import NoContainer, header_schema
from magicbyte.kit.bounded_file import read_bounded
from magicbyte.kit.failure import Failure

#: Folders with third-party or generated files.
_PASSED_OVER = frozenset({"node_modules", "__pycache__", "build", "dist", "target", "venv"})


#: The file name ending of Avro container files.
CONTAINER = ".avro"


@dataclass(frozen=True, slots=True)
class SchemaFile:
    """A file with a schema.

    Attributes:
        path: The path relative to the project's folder, with `/`.
        subject: The subject of which it is the next version.
        schema_type: AVRO, JSON or PROTOBUF.
        text: The file's text.
        entry: The configuration's entry for it.
    """

    path: str
    subject: str
    schema_type: str
    text: str
    entry: Entry

    @property
    def is_container(self) -> bool:
        """Whether the schema is in the header of an Avro container file."""
        return self.path.endswith(CONTAINER)


def find_paths(folder: Path, endings: tuple[str, ...]) -> Iterator[str]:
    """The paths of all files in a folder with such endings; hidden folders are skipped."""
    for top, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _PASSED_OVER and not name.startswith("."))
        inside = Path(top).relative_to(folder).as_posix()
        for name in sorted(names):
            if name.endswith(endings):
                yield name if inside == "." else f"{inside}/{name}"


def read_files(
    config: Config, paths: Iterable[str], read: Callable[[str], bytes]
) -> tuple[list[SchemaFile], list[Finding]]:
    """The schema files among some paths, and findings for those that are not text.

    Args:
        config: Decides which files are schema files, and their subjects.
        paths: Paths relative to the project's folder.
        read: Returns the content of a path.
    """
    files, findings = [], []
    for path in paths:
        entry = config.entry_of(path)
        if entry is None:
            continue
        subject, schema_type = entry.subject_of(path), config.type_of(path, entry)
        if schema_type is None:
            message = "Nothing tells the type of this schema."
            remedy = "Give its entry in the configuration a `type`: AVRO, JSON or PROTOBUF."
            findings.append(Finding("INVALID_SCHEMA", path, START, message, remedy, subject=subject))
            continue
        try:
            text = _container_schema(read(path)) if path.endswith(CONTAINER) else read(path).decode()
        except NoContainer as error:
            remedy = "Exclude the file, or make it one."
            findings.append(Finding("INVALID_SCHEMA", path, START, f"{error}.", remedy, subject=subject))
            continue
        except UnicodeDecodeError as error:
            findings.append(_no_text(path, subject, error))
            continue
        files.append(SchemaFile(path, subject, schema_type, text, entry))
    return files, findings


def working_files(config: Config, named: Iterable[str] = ()) -> tuple[list[SchemaFile], list[Finding]]:
    """The project's schema files, and findings for those that are not text or share a subject.

    Args:
        config: The project.
        named: Files that the user names; they are checked even if no pattern of the configuration matches them.

    Raises:
        Failure: a file that the configuration or the user names does not exist, or a file cannot be read.
    """
    paths = list(find_paths(config.root, config.endings))
    known_paths = set(paths)
    # An entry may name a file in a folder that the search skips.
    hidden = {entry.files for entry in config.entries if (config.root / entry.files).is_file()} - known_paths
    paths = sorted({*paths, *hidden})
    extra = tuple(path for path in named if config.entry_of(path) is None)
    if extra:
        from dataclasses import replace  # noqa: PLC0415 - seldom needed

        config = replace(config, files=(*config.files, *extra))
        paths = sorted({*paths, *extra})
    _refuse_missing(config, set(paths))
    files, findings = read_files(config, paths, partial(read_inside, config.root))
    return files, findings + _shared_subjects(files)


def _container_schema(data: bytes) -> str:
    """The schema in the header of an Avro container file; positions are relative to the schema's text."""
    return header_schema(io.BytesIO(data))


def read_inside(root: Path, path: str) -> bytes:
    """Read a file of a project; of a container file, enough for its header.

    Raises:
        Failure: it cannot be read, is no regular file or too long, or a link leads out of the project.
    """
    try:
        return read_bounded(root / path, inside=root, cut=path.endswith(CONTAINER))
    except OSError as error:
        raise Failure(f"{path}:1:1: cannot be read: {error.strerror}") from None


def _refuse_missing(config: Config, paths: set[str]) -> None:
    for entry in config.entries:
        name = "files" if "files" in entry.origin.places else "file"
        links = [(link, "file", link.file) for link in entry.references if link.file is not None]
        for section, setting, path in ((entry, name, entry.files), *links):
            if not any(sign in path for sign in "*?") and path not in paths and not (config.root / path).is_file():
                raise section.error(setting, f"there is no file {path!r} in {config.root}")


def _shared_subjects(files: list[SchemaFile]) -> list[Finding]:
    first: dict[str, SchemaFile] = {}
    findings = []
    for file in files:
        other = first.setdefault(file.subject, file)
        if other is not file:
            message = f"Subject {file.subject!r} has two files: {other.path} and this one."
            remedy = "Give one of them another subject in the configuration, or exclude it."
            findings.append(Finding("DUPLICATE_SUBJECT", file.path, START, message, remedy, subject=file.subject))
    return findings


def invalid(file: SchemaFile, error: InvalidSchema) -> Finding:
    """The finding for a schema that the parser of its type rejects."""
    remedy = "The registry refuses such a schema (error 42201): mend it at this place."
    position = error.position or START
    return Finding("INVALID_SCHEMA", file.path, position, f"{error.detail}.", remedy, subject=file.subject)


def _no_text(path: str, subject: str, error: UnicodeDecodeError) -> Finding:
    before = error.object[: error.start]
    position = Position(before.count(b"\n") + 1, error.start - before.rfind(b"\n"))
    message, remedy = "This is not UTF-8 text.", "Save the file in UTF-8."
    return Finding("INVALID_SCHEMA", path, position, message, remedy, subject=subject)
