"""A folder in S3, read by Arrow's client: Hadoop's client needs Spark's JVM."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from magicbyte.kit.bounded_file import MOST_BYTES
from spark_avro.pipeline.file.pipeline import Pipeline
from spark_avro.pipeline.local_folder import has_hadoop_files

if TYPE_CHECKING:
    from pyarrow.fs import S3FileSystem

_PATH = re.compile(r"s3a://(?P<bucket>[^/@:]+)/(?P<key>.+)", re.IGNORECASE)
_PREFIX = "spark.hadoop.fs.s3a."
#: Setting of Hadoop's client -> parameter of Arrow's.
_KEYS = {"access.key": "access_key", "secret.key": "secret_key", "session.token": "session_token"}
_ENDPOINT = ("endpoint", "endpoint.region", "path.style.access", "connection.ssl.enabled")
#: Settings that do not decide what a read returns: those of writes, numbers of connections, and retries.
_OTHERS = re.compile(
    r"(committer|fast\.upload|multipart|threads|connection\.(maximum|timeout)|attempts|retry|create|block\.size)\b.*"
)
#: A host of Amazon's: the bucket's region decides which one is asked.
_AMAZON = re.compile(r"(.*\.)?amazonaws\.com(\.cn)?(:443)?")


class S3Folder:
    """A folder in S3; see `ReadableFolder`.

    Attributes:
        path: The folder's path, for messages.
    """

    def __init__(self, files: S3FileSystem, bucket: str, key: str) -> None:
        self.path = f"s3a://{bucket}/{key}"
        self._files = files
        self._bucket, self._key = bucket, key

    def read(self, relative: str) -> str | None:
        """A file's text; None if there is no such file.

        Raises:
            OSError: S3 does not answer, or refuses.
            ValueError: it has more than 16 MiB, or is no UTF-8 text.
        """
        try:
            with self._files.open_input_stream(self._at(relative)) as stream:
                data: bytes = stream.read(MOST_BYTES + 1)
        except FileNotFoundError:
            return None
        if len(data) > MOST_BYTES:
            raise ValueError(f"{self.path}/{relative} has more than {MOST_BYTES:,} bytes")
        return data.decode()

    def names(self, relative: str = "") -> list[str]:
        """The names of the entries of a folder; none if there is no such folder.

        Raises:
            OSError: S3 does not answer, or refuses.
        """
        from pyarrow.fs import FileSelector  # noqa: PLC0415 - imported already: this folder has Arrow's file system

        entries = self._files.get_file_info(FileSelector(self._at(relative), allow_not_found=True))
        return sorted(entry.base_name for entry in entries)

    def modified(self, relative: str) -> float | None:
        """Return the time when a file was written, in seconds since 1970; None if there is no such file.

        Raises:
            OSError: S3 does not answer, or refuses.
        """
        written = self._files.get_file_info(self._at(relative)).mtime
        return None if written is None else float(written.timestamp())

    def inside(self, relative: str) -> S3Folder:
        """A folder in this one."""
        return S3Folder(self._files, self._bucket, f"{self._key}/{relative}")

    def _at(self, relative: str) -> str:
        return "/".join(filter(None, (self._bucket, self._key, relative)))


def s3_checkpoint(pipeline: Pipeline) -> S3Folder | None:
    """The checkpoint if it is in S3; None if the path or a setting of the file is for Hadoop's client alone.

    Raises:
        OSError: the bucket's region cannot be found.
    """
    match = _PATH.fullmatch(pipeline.checkpoint.rstrip("/"))
    settings = {name.removeprefix(_PREFIX): value for name, value in pipeline.spark.items() if name.startswith(_PREFIX)}
    others = [name for name in settings if name not in (*_KEYS, *_ENDPOINT) and not _OTHERS.fullmatch(name)]
    if match is None or others or has_hadoop_files():
        return None
    try:
        from pyarrow import fs  # noqa: PLC0415 - only for a checkpoint in S3

        connect = fs.S3FileSystem
    except (ImportError, AttributeError):  # Arrow was built without S3
        return None
    keys: dict[str, Any] = {word: settings[name] for name, word in _KEYS.items() if name in settings}
    bucket, region = match["bucket"], settings.get("endpoint.region")
    endpoint = _endpoint(settings)
    if endpoint:
        return S3Folder(connect(**keys, **endpoint, region=region or "us-east-1"), bucket, match["key"])
    return S3Folder(connect(**keys, region=region or fs.resolve_s3_region(bucket)), bucket, match["key"])


def _endpoint(settings: Mapping[str, str]) -> dict[str, Any]:
    """Arrow's parameters for the server that is asked; none if it is Amazon's."""
    named_scheme, separator, host = settings.get("endpoint", "").rstrip("/").rpartition("://")
    if not host or _AMAZON.fullmatch(host):
        return {}
    is_tls = settings.get("connection.ssl.enabled", "true").lower() == "true"
    return {
        "scheme": named_scheme if separator else "https" if is_tls else "http",
        "endpoint_override": host,
        "force_virtual_addressing": settings.get("path.style.access", "false").lower() != "true",
    }
