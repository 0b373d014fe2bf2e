"""A folder of this machine, read without Spark."""

from __future__ import annotations

import os
import re
from pathlib import Path

from magicbyte.kit.bounded_file import FileRefused, read_bounded
from spark_avro.pipeline.file.pipeline import Pipeline

#: Variables of folders with files of Hadoop's and Spark's settings.
_CONFIGURED = ("HADOOP_CONF_DIR", "YARN_CONF_DIR", "SPARK_CONF_DIR")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")


class LocalFolder:
    """A folder of the local file system; see `ReadableFolder`.

    Attributes:
        path: The folder's path.
    """

    def __init__(self, path: str) -> None:
        self.path = path.rstrip("/")

    def read(self, relative: str) -> str | None:
        """A file's text; None if there is no such file.

        Raises:
            ValueError: it is no regular file, has more than 16 MiB, or is no UTF-8 text.
        """
        path = Path(self.path, relative)
        try:
            return read_bounded(path).decode()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except FileRefused as error:
            raise ValueError(f"{path} {error.strerror}") from None

    def names(self, relative: str = "") -> list[str]:
        """The names of the entries of a folder; none if there is no such folder."""
        try:
            return sorted(entry.name for entry in Path(self.path, relative).iterdir())
        except (FileNotFoundError, NotADirectoryError):
            return []

    def modified(self, relative: str) -> float | None:
        """Return the time when a file was written, in seconds since 1970; None if there is no such file."""
        try:
            return Path(self.path, relative).stat().st_mtime
        except (FileNotFoundError, NotADirectoryError):
            return None

    def inside(self, relative: str) -> LocalFolder:
        """A folder in this one."""
        return LocalFolder(f"{self.path}/{relative}")


def local_checkpoint(pipeline: Pipeline) -> LocalFolder | None:
    """The checkpoint if it is on this machine; None if Spark has to find it."""
    match = _SCHEME.match(pipeline.checkpoint)
    if match is None:
        has_other_root = "spark.hadoop.fs.defaultFS" in pipeline.spark or has_hadoop_files()
        return None if has_other_root else LocalFolder(pipeline.checkpoint)
    if match[1].lower() != "file":
        return None
    path = re.sub(r"^/{2,}", "/", pipeline.checkpoint[match.end() :])
    return LocalFolder(path)


def has_hadoop_files() -> bool:
    """Whether this machine may have files with settings of Hadoop's, such as another default file system."""
    home = os.environ.get("SPARK_HOME")
    has_defaults = bool(home) and Path(str(home), "conf", "spark-defaults.conf").is_file()
    return has_defaults or any(name in os.environ for name in _CONFIGURED)
