"""The forms of files, each recognized by what is in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from magicbyte.operations.failures import Unreadable
from magicbyte.operations.sources.files.closed_lines import head_of
from magicbyte.operations.sources.files.console_dump import ConsoleDump, is_console_dump
from magicbyte.operations.sources.files.karapace.v1 import KarapaceV1, is_v1
from magicbyte.operations.sources.files.karapace.v2 import V2_HEAD, KarapaceV2
from magicbyte.operations.sources.files.karapace.v3 import V3_HEAD, KarapaceV3, is_v3_folder
from magicbyte.operations.sources.files.logical import LOGICAL_HEAD, LogicalFile
from magicbyte.operations.sources.files.raw import RAW_HEAD, RawFile
from magicbyte.operations.sources.files.rpk_records import RpkRecords, is_rpk_records
from magicbyte.operations.sources.files.schema_list import SchemaList, is_schema_list
from magicbyte.operations.sources.port import Source

#: How many bytes of a file are looked at.
_HEAD_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Head:
    """The features by which a file is recognized.

    Attributes:
        path: The file or folder.
        content: The first bytes of its content, decompressed if we compressed it; empty for a folder.
        is_folder: Whether it is a folder.
    """

    path: Path
    content: bytes
    is_folder: bool


@dataclass(frozen=True, slots=True)
class Form:
    """A form of files.

    Attributes:
        name: What users call such a file.
        fits: Tells whether a file is of this form.
        open: Opens it.
    """

    name: str
    fits: Callable[[Head], bool]
    open: Callable[[Path], Source]


#: The first that fits is taken: forms with a mark of their own come before those that are told by their structure.
FORMS: tuple[Form, ...] = (
    Form("a raw backup", lambda head: head.content.startswith(RAW_HEAD), RawFile),
    Form("a logical backup or an export", lambda head: head.content.startswith(LOGICAL_HEAD), LogicalFile),
    Form("a folder of Karapace's backup V3", lambda head: head.is_folder and is_v3_folder(head.path), KarapaceV3),
    Form("the metadata of Karapace's backup V3", lambda head: head.content.startswith(V3_HEAD), KarapaceV3),
    Form("Karapace's backup V2", lambda head: head.content.startswith(V2_HEAD), KarapaceV2),
    Form("Karapace's backup V1", lambda head: is_v1(head.content), KarapaceV1),
    Form("AxonOps' bulk import", lambda head: is_schema_list(head.content), SchemaList),
    Form("records of rpk", lambda head: is_rpk_records(head.content), RpkRecords),
    Form("a console dump", lambda head: is_console_dump(head.content), ConsoleDump),
)


def open_recognized(path: Path) -> Source:
    """Open a file or folder by what is in it.

    Raises:
        Unreadable: It is of no known form, or cannot be read.
    """
    is_folder = path.is_dir()
    if not is_folder and not path.is_file():
        raise Unreadable(f"{path} is no regular file")
    head = Head(path, b"" if is_folder else head_of(path, _HEAD_BYTES), is_folder)
    for form in FORMS:
        if form.fits(head):
            return form.open(path)
    names = ", ".join(form.name for form in FORMS)
    raise Unreadable(f"{path} is of no known form, or its beginning was changed; known forms: {names}")
