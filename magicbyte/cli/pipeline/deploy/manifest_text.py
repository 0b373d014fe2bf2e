"""The YAML of a manifest."""

from __future__ import annotations

import sys
from typing import Any

import yaml


class _Dumper(yaml.SafeDumper):
    """Writes texts that are values in double quotes; versions of YAML differ in which plain texts are numbers."""

    def represent_mapping(self, tag: str, mapping: Any, flow_style: Any = None) -> yaml.MappingNode:
        node = super().represent_mapping(tag, mapping, flow_style)
        for _, value in node.value:
            _quote(value)
        return node

    def represent_sequence(self, tag: str, sequence: Any, flow_style: Any = None) -> yaml.SequenceNode:
        node = super().represent_sequence(tag, sequence, flow_style)
        for item in node.value:
            _quote(item)
        return node


def _quote(node: yaml.Node) -> None:
    if isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:str":
        node.style = '"'


def manifest_text(document: dict[str, Any]) -> str:
    """The manifest as YAML; long texts stay on one line."""
    return str(yaml.dump(document, Dumper=_Dumper, sort_keys=False, width=sys.maxsize, allow_unicode=True))
