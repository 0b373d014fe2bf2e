"""Reads a schema's text, which is `.proto` text or a descriptor in base64."""

from __future__ import annotations

import base64
import binascii
import re

from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.message import DecodeError

from compat.protobuf.descriptor.undescribe import from_descriptor
from compat.protobuf.text.nodes import File
from compat.protobuf.text.parser import parse_file

_BASE64 = re.compile(r"[A-Za-z0-9+/\s]++={0,2}\s*+", re.ASCII)


def read(text: str) -> tuple[File, bool]:
    """The tree of a schema's text, and whether the text is `.proto` text (else it is a descriptor in base64).

    Raises:
        InvalidSchema: The text is neither.
    """
    descriptor = _descriptor(text)
    return (parse_file(text), True) if descriptor is None else (from_descriptor(descriptor), False)


def decode(text: str) -> bytes | None:
    """The bytes of a base64 text; None if it is not base64."""
    if not _BASE64.fullmatch(text):
        return None
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except binascii.Error:
        return None


def _descriptor(text: str) -> FileDescriptorProto | None:
    serialized = decode(text)
    if not serialized:
        return None
    try:
        return FileDescriptorProto.FromString(serialized)
    except DecodeError:
        return None
