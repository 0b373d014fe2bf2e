"""Times Protobuf parsing, linking, printing and compatibility, beside protoc in the same run.

    PYTHONPATH=bench/kit python -P bench/compat/protobuf.py

Each row is the median of the rounds in processor time, with the fastest and the slowest round as spread. protoc runs in
this process, so that no start of a program is in its time; it reads the file from disk and writes the descriptor.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import grpc_tools
from grpc_tools import protoc
from processor_time import head, row

from compat.engine import Previous, check
from compat.formats import parse
from compat.level import LEVELS
from compat.protobuf import FORMAT, ProtobufSchema
from compat.protobuf.text.parser import parse_file
from compat.schema import PROTOBUF, SchemaText

LINES = 2000
VERSIONS = 1000
INCLUDED = Path(grpc_tools.__file__).parent / "_proto"

HEAD = """syntax = "proto3";
package bench.orders;

import "google/protobuf/timestamp.proto";
"""
#: 25 lines: fields of most types, an option, a map, a oneof, a nested message and an enum.
MESSAGE = """
// An order, number {n}.
message Order{n} {{
  string id = 1;
  int64 customer_id = 2;
  double total_amount = 3;
  repeated string tags = 4;
  google.protobuf.Timestamp created_at = 5;
  Status{n} status = 6;
  map<string, int32> attributes = 7;
  repeated Line lines = 8;
  bool is_paid = 9 [deprecated = true];
  oneof payment {{
    string card_number = 20;
    bytes voucher = 21;
  }}
  message Line {{
    string sku = 1;
    uint32 quantity = 2;
  }}
}}
enum Status{n} {{
  STATUS{n}_UNKNOWN = 0;
  STATUS{n}_OPEN = 1;
}}
"""


def text_of(lines: int, added: int = 0) -> str:
    """A file of about so many lines, with some fields more in its first message."""
    count = max(1, (lines - HEAD.count("\n")) // MESSAGE.count("\n"))
    first = MESSAGE.replace("  oneof", "".join(f"  int32 added{i} = {30 + i};\n" for i in range(added)) + "  oneof")
    return HEAD + first.format(n=0) + "".join(MESSAGE.format(n=n) for n in range(1, count))


def read(text: str, *, strict: bool = True) -> ProtobufSchema:
    """The schema, read as a new one unless told otherwise."""
    schema = parse(SchemaText(PROTOBUF, text), strict=strict)
    assert isinstance(schema, ProtobufSchema)
    return schema


def by_protoc(folder: Path, text: str) -> Callable[[], object]:
    """The compiler's way from a file to a descriptor."""
    (folder / "bench.proto").write_text(text)
    arguments = ["protoc", f"-I{folder}", f"-I{INCLUDED}", f"--descriptor_set_out={folder / 'out.bin'}", "bench.proto"]

    def work() -> None:
        assert protoc.main(arguments) == 0

    return work


def transitive(lines: int) -> Callable[[], object]:
    """A check of a new version against a thousand parsed ones, of which each hundredth adds a field."""
    previous = [
        Previous(n, read(text_of(lines, added=n // 100) + f"// {n}\n", strict=False)) for n in range(1, VERSIONS + 1)
    ]
    new = read(text_of(lines, added=VERSIONS // 100))

    def work() -> None:
        verdict = check(new, previous, LEVELS["BACKWARD_TRANSITIVE"])
        assert verdict.compatible, verdict.messages

    return work


def main() -> None:
    """Prints the table."""
    head()
    text = text_of(LINES)
    print(f"{text.count(chr(10))} lines, {len(text) // 1024} KB")
    with tempfile.TemporaryDirectory() as folder:
        row("  parse and link", lambda: read(text), goal="50")
        row("  protoc: file to descriptor", by_protoc(Path(folder), text))
    row("  parse alone", lambda: parse_file(text))
    row("  parse and canonical text", lambda: read(text, strict=False).canonical)
    row("  parse and normalised text", lambda: read(text, strict=False).normalized())
    one, other = read(text), read(text_of(LINES, added=1))
    row("  compare with a version that adds a field", lambda: FORMAT.differences(other, one))
    print(f"{VERSIONS} versions of 25 lines, parsed before, BACKWARD_TRANSITIVE, all compatible")
    row("  check", transitive(25), goal="100")


if __name__ == "__main__":
    main()
