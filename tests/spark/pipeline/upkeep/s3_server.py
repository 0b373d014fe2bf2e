"""A server that answers the reads of S3's clients from a folder; it does not check signatures."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from xml.sax.saxutils import escape


class _Server(ThreadingHTTPServer):
    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.folder = folder


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self._serve(body=False)

    def do_GET(self) -> None:
        target = urlsplit(self.path)
        query = parse_qs(target.query)
        if "list-type" in query:
            bucket = target.path.strip("/")
            self._answer(200, _listing(self.server.folder / bucket, query.get("prefix", [""])[0], bucket).encode())
        else:
            self._serve(body=True)

    def _serve(self, *, body: bool) -> None:
        file = self.server.folder / urlsplit(self.path).path.lstrip("/")
        if not file.is_file():
            self._answer(404, b"<Error><Code>NoSuchKey</Code></Error>" if body else b"")
            return
        data = file.read_bytes()
        first, last = 0, len(data) - 1
        span = self.headers.get("Range", "")
        if span:
            begin, _, end = span.removeprefix("bytes=").partition("-")
            first, last = int(begin), min(last, int(end or last))
        headers = {"Last-Modified": formatdate(file.stat().st_mtime, usegmt=True)}
        self._answer(206 if span else 200, data[first : last + 1], headers, body=body)

    def _answer(self, code: int, data: bytes, headers: dict[str, str] | None = None, *, body: bool = True) -> None:
        self.send_response(code)
        for name, value in {**(headers or {}), "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        if body:
            self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Write no lines."""


@contextmanager
def s3_server(folder: Path) -> Iterator[str]:
    """The address of the server. The folders of `folder` are its buckets; requests name them in the path."""
    server = _Server(folder)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _listing(bucket: Path, prefix: str, name: str) -> str:
    keys = sorted(str(file.relative_to(bucket)) for file in bucket.rglob("*") if file.is_file())
    keys = [key for key in keys if key.startswith(prefix)]
    files = [key for key in keys if "/" not in key[len(prefix) :]]
    folders = sorted({prefix + key[len(prefix) :].partition("/")[0] + "/" for key in keys if key not in files})
    entries = "".join(
        f"<Contents><Key>{escape(key)}</Key><LastModified>2026-01-01T10:00:00.000Z</LastModified>"
        f"<Size>{(bucket / key).stat().st_size}</Size></Contents>"
        for key in files
    )
    prefixes = "".join(f"<CommonPrefixes><Prefix>{escape(key)}</Prefix></CommonPrefixes>" for key in folders)
    return (
        '<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
        f"<Name>{name}</Name><Prefix>{escape(prefix)}</Prefix><KeyCount>{len(files) + len(folders)}</KeyCount>"
        f"<IsTruncated>false</IsTruncated>{entries}{prefixes}</ListBucketResult>"
    )
