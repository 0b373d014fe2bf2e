"""Reads an image in an OCI layout: its config, the sizes of its layers, and its files."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: The beginning of the name of a file that stands for a deleted one.
_DELETED = ".wh."


@dataclass(frozen=True, slots=True)
class Image:
    """An image.

    Attributes:
        config: Its config: the command, the user, the history.
        layers: The files of its layers, from the base up.
    """

    config: Mapping[str, Any]
    layers: Sequence[Path]

    @property
    def layer_bytes(self) -> list[int]:
        """The compressed size of each layer, in bytes."""
        return [layer.stat().st_size for layer in self.layers]

    def unpack(self, folder: Path) -> None:
        """Write the image's files into a folder."""
        folder.mkdir(parents=True)
        for layer in self.layers:
            extract: list[str | Path] = ["tar", "--extract", "--numeric-owner", "--file", layer, "--directory", folder]
            subprocess.run(extract, check=True)
            for marker in list(folder.rglob(f"{_DELETED}*")):
                target = marker.with_name(marker.name.removeprefix(_DELETED))
                shutil.rmtree(target) if target.is_dir() else target.unlink(missing_ok=True)
                marker.unlink()


def read(layout: Path) -> Image:
    """Read the only image of a layout."""

    def blob(descriptor: Mapping[str, Any]) -> Path:
        return layout / "blobs" / str(descriptor["digest"]).replace(":", "/")

    (described,) = json.loads((layout / "index.json").read_bytes())["manifests"]
    manifest = json.loads(blob(described).read_bytes())
    return Image(json.loads(blob(manifest["config"]).read_bytes()), [blob(layer) for layer in manifest["layers"]])
