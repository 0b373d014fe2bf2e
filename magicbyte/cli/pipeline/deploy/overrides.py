"""The refusal of `--set` with a secret: the words of a command are in the output, and in the list of processes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from magicbyte.kit.placeholders import placeholders_in, without_placeholders
from magicbyte.kit.secret import has_secret, is_secret
from magicbyte.kit.settings.nodes import ListNode, MapNode, Node, ScalarNode
from magicbyte.kit.settings.place import Place
from serdes.console.outcome import BAD_USAGE, Ended

#: `key` names columns in these settings, and not in the properties of other programs.
_COLUMNS = re.compile(r"(?:source|streams|steps|sinks?)\.(?!.*\b(?:kafka\.kafka|options|properties|catalog)\.).*\bkey")
#: A key in the text of the step `mask`.
_KEY_OF_MASK = re.compile(r"hmac:(?!\$\{)")


def refuse_secrets(overrides: Sequence[str]) -> None:
    """Refuse secrets in overrides; a text that only looks like a secret is refused too.

    Raises:
        Ended: an override has a secret that is not a placeholder alone.
        PipelineError: a value is not YAML.
    """
    from spark_avro.pipeline.file.nodes import Placeholders, scalar_node  # noqa: PLC0415 - needs YAML

    for override in overrides:
        name, _, text = override.partition("=")
        for path, value in _leaves(name, scalar_node(text, Place(f"--set {name}"), Placeholders.KEEP)):
            if is_secret(path) and not _COLUMNS.fullmatch(path):
                if not placeholders_in(value) or without_placeholders(value):
                    advice = "write ${env:VARIABLE} alone as its value, or set it in the file"
                    raise Ended(BAD_USAGE, f"--set {path}: a secret would be readable; {advice}")
            elif has_secret(value) or _KEY_OF_MASK.match(value) or (path.endswith("url") and "@" in value):
                raise Ended(BAD_USAGE, f"--set {path}: a secret in the value would be readable; set it in the file")


def _leaves(path: str, node: Node) -> Iterator[tuple[str, str]]:
    """The paths and texts of all scalars; the items of a list have the path of the list."""
    if isinstance(node, ScalarNode):
        yield path, str(node.raw)
    elif isinstance(node, ListNode):
        for item in node.items:
            yield from _leaves(path, item)
    else:
        assert isinstance(node, MapNode)
        for name, entry in node.entries.items():
            yield from _leaves(f"{path}.{name}", entry.node)
