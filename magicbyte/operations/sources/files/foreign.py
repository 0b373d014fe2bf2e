"""The files of other tools, each recognized by what is in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from magicbyte.operations.sources.files.console_dump import ConsoleDump, is_console_dump
from magicbyte.operations.sources.files.karapace.v1 import KarapaceV1, is_v1
from magicbyte.operations.sources.files.karapace.v2 import V2_HEAD, KarapaceV2
from magicbyte.operations.sources.files.karapace.v3 import V3_HEAD, KarapaceV3, is_v3_folder
from magicbyte.operations.sources.files.rpk_records import RpkRecords, is_rpk_records
from magicbyte.operations.sources.files.schema_list import SchemaList, is_schema_list
from magicbyte.operations.sources.port import Source


@dataclass(frozen=True, slots=True)
class ForeignForm:
    """A form of files that another tool writes.

    Attributes:
        name: What users call such a file.
        fits: Tells by a file's path and its first bytes, which are empty for a folder, whether it is of this form.
        open: Opens it.
    """

    name: str
    fits: Callable[[Path, bytes], bool]
    open: Callable[[Path], Source]


#: Those with a mark of their own come before those that are told by their structure.
FOREIGN_FORMS = (
    ForeignForm(
        "a folder of Karapace's backup, version 3", lambda path, _: path.is_dir() and is_v3_folder(path), KarapaceV3
    ),
    ForeignForm("the metadata of Karapace's backup, version 3", lambda _, head: head.startswith(V3_HEAD), KarapaceV3),
    ForeignForm("Karapace's backup, version 2", lambda _, head: head.startswith(V2_HEAD), KarapaceV2),
    ForeignForm("Karapace's backup, version 1", lambda _, head: is_v1(head), KarapaceV1),
    ForeignForm("AxonOps' bulk import", lambda _, head: is_schema_list(head), SchemaList),
    ForeignForm("records of rpk", lambda _, head: is_rpk_records(head), RpkRecords),
    ForeignForm("a console dump", lambda _, head: is_console_dump(head), ConsoleDump),
)


def open_foreign(path: Path, head: bytes) -> Source | None:
    """Open a file or folder that another tool wrote; None if it is of none of these forms.

    Args:
        path: The file or folder.
        head: The first bytes of the file; empty for a folder.

    Raises:
        Unreadable: A folder has several backups.
    """
    return next((form.open(path) for form in FOREIGN_FORMS if form.fits(path, head)), None)
