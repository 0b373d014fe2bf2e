"""A folder on any file system that Spark reaches: small files as a whole, listings, and renames."""

from __future__ import annotations

import uuid
from contextlib import suppress
from typing import Any, Protocol, Self

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from spark_avro.pipeline.file.object_stores import WHOLE_FILES, store_of
from spark_avro.pipeline.ports import SinkRefused


class ReadableFolder(Protocol):
    """A folder of small files to read."""

    @property
    def path(self) -> str:
        """The folder's path."""

    def read(self, relative: str) -> str | None:
        """A file's text; None if there is no such file."""

    def names(self, relative: str = "") -> list[str]:
        """The names of the entries of a folder; none if there is no such folder."""

    def modified(self, relative: str) -> float | None:
        """The time when a file was written, in seconds since 1970; None if there is no such file."""

    def inside(self, relative: str) -> Self:
        """A folder in this one."""


class Folder:
    """A folder of Hadoop's FileSystem; paths are relative to it.

    On the local file system it writes no checksum files, because a file and its checksum cannot be replaced together.

    Attributes:
        path: The folder's path.
        replaces_at_once: Whether readers always see one of the two files during `replace`, as on the local file system
            and in S3.
    """

    def __init__(self, spark: SparkSession, path: str) -> None:
        """Make a folder's handle; nothing is written.

        Raises:
            SinkRefused: The path has a scheme without a file system, or the session uses Spark Connect.
        """
        self.path = path.rstrip("/")
        self._spark = spark
        if not hasattr(spark, "_jvm"):
            raise SinkRefused(f"{path}: files need a session in this process; Spark Connect gives no access to folders")
        jvm: Any = spark._jvm  # noqa: SLF001 - PySpark's way to Hadoop's file systems
        self._hadoop_path = jvm.org.apache.hadoop.fs.Path
        self._io = jvm.org.apache.commons.io.IOUtils
        root = self._hadoop_path(self.path)
        try:
            files = root.getFileSystem(spark._jsc.hadoopConfiguration())  # noqa: SLF001 - as above
        except Py4JJavaError as error:
            raise SinkRefused(f"{path}: {error.java_exception.getMessage()}") from error
        scheme = str(files.getUri().getScheme())
        self._is_whole_when_closed = store_of(f"{scheme}:") in WHOLE_FILES
        self.replaces_at_once = scheme == "file" or self._is_whole_when_closed
        if scheme == "file":
            files = jvm.org.apache.hadoop.fs.FileSystem.getLocal(spark._jsc.hadoopConfiguration())  # noqa: SLF001
            files = files.getRawFileSystem()
        self._files = files

    def _at(self, relative: str) -> Any:
        return self._hadoop_path(f"{self.path}/{relative}" if relative else self.path)

    def exists(self, relative: str = "") -> bool:
        """Whether there is such a file or folder."""
        return bool(self._files.exists(self._at(relative)))

    def read(self, relative: str) -> str | None:
        """A file's text; None if there is no such file."""
        if not self.exists(relative):
            return None
        stream = self._files.open(self._at(relative))
        try:
            text: str = self._io.toString(stream, "UTF-8")
            return text
        finally:
            stream.close()

    def write(self, relative: str, text: str) -> None:
        """Write a new file: a reader sees all of it or no file.

        Raises:
            SinkRefused: The file exists, and the file system does not replace files by a rename.
        """
        if self._is_whole_when_closed:
            if self.exists(relative):
                raise SinkRefused(f"{self.path}: {relative} exists; another driver may have written it")
            self._put(relative, text)
            return
        parent, _, name = relative.rpartition("/")
        temporary = f"{parent}/.{name}.{uuid.uuid4().hex}"
        self._put(temporary, text)
        self.rename(temporary, relative)

    def replace(self, relative: str, text: str) -> None:
        """Write a file in place of another; if a rename cannot replace a file, there is no file for a moment."""
        if self._is_whole_when_closed:
            self._put(relative, text)
            return
        temporary = f"{relative}.{uuid.uuid4().hex}"
        self.write(temporary, text)
        if not self._files.rename(self._at(temporary), self._at(relative)):
            self.delete(relative)
            self.rename(temporary, relative)

    def _put(self, relative: str, text: str) -> None:
        stream = self._files.create(self._at(relative), True)
        try:
            stream.write(bytearray(text.encode()))
        finally:
            stream.close()

    def names(self, relative: str = "") -> list[str]:
        """The names of the entries of a folder; none if there is no such folder."""
        if not self.exists(relative):
            return []
        return sorted(status.getPath().getName() for status in self._files.listStatus(self._at(relative)))

    def modified(self, relative: str) -> float | None:
        """The time when a file was written, in seconds since 1970; None if there is no such file."""
        if not self.exists(relative):
            return None
        return float(self._files.getFileStatus(self._at(relative)).getModificationTime()) / 1000

    def inside(self, relative: str) -> Folder:
        """A folder in this one."""
        return Folder(self._spark, f"{self.path}/{relative}")

    def files(self, relative: str = "") -> list[tuple[str, int]]:
        """All files below a folder, except hidden ones, with their sizes in bytes; paths are relative to it."""
        result = []
        root = self._files.makeQualified(self._at(relative)).toString() + "/"
        waiting = [self._at(relative)]
        while waiting:
            for status in self._files.listStatus(waiting.pop()):
                if status.isDirectory():
                    waiting.append(status.getPath())
                elif not status.getPath().getName().startswith((".", "_")):
                    result.append((status.getPath().toString().removeprefix(root), int(status.getLen())))
        return sorted(result)

    def rename(self, old: str, new: str) -> None:
        """Move a file or folder; creates the parent folder of the new path.

        Raises:
            SinkRefused: The file system refuses.
        """
        target = self._at(new)
        self._files.mkdirs(target.getParent())
        if not self._files.rename(self._at(old), target):
            raise SinkRefused(f"{self.path}: {old} cannot be moved to {new}")

    def delete(self, relative: str) -> None:
        """Delete a file or a folder with its contents, if it is there."""
        self._files.delete(self._at(relative), True)

    def delete_if_empty(self, relative: str = "") -> None:
        """Delete a folder if it is there and has no entries."""
        with suppress(Py4JJavaError):  # it has entries
            self._files.delete(self._at(relative), False)
