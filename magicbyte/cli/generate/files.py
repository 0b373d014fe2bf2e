"""The generated files beside those that are in the folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from magicbyte.generate.module_text import MARK
from magicbyte.generate.protobuf import MARK as MARK_OF_PROTOC
from magicbyte.kit.failure import Failure


def differing(folder: Path, files: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The files that are not as generated, with the reason: `missing`, `differs`, or `no schema stands for it`.

    Raises:
        Failure: A file cannot be read, or is there already and was written by somebody else.
    """
    for name, text in files.items():
        held = _read(folder / name)
        if held is None:
            yield name, "missing"
        elif not _is_generated(name, held):
            # The package may have an __init__.py with other content.
            if not name.endswith("__init__.py"):
                raise Failure(f"{folder / name} was not made by `magicbyte generate`: name another --out, or remove it")
        elif held != text:
            yield name, "differs"
    for path in _obsolete_modules(folder, files):
        yield path.relative_to(folder).as_posix(), "no schema stands for it"


def write(folder: Path, files: Mapping[str, str], names: Sequence[str]) -> None:
    """Write some of the generated files.

    Raises:
        Failure: One cannot be written.
    """
    for name in names:
        path = folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(files[name], encoding="utf-8", newline="\n")
        except OSError as error:
            raise Failure(f"{path} cannot be written: {error.strerror}") from None


def _obsolete_modules(folder: Path, files: Mapping[str, str]) -> Iterator[Path]:
    """Generated modules in the folders of the files that are not among them."""
    folders = sorted({(folder / name).parent for name in files})
    for around in folders:
        for path in sorted(around.glob("*.py")) if around.is_dir() else ():
            if path.relative_to(folder).as_posix() not in files and _is_generated(path.name, _read(path) or ""):
                yield path


def _is_generated(name: str, text: str) -> bool:
    head = text[:2000]
    # protoc's stubs have no mark.
    is_stub = name.endswith("_pb2.pyi") and "_descriptor" in head
    return is_stub or MARK in head or MARK_OF_PROTOC in head


def _read(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8", "replace")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Failure(f"{path} cannot be read: {error.strerror}") from None
