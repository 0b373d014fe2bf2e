"""`magicbyte config reference`: all settings of a server, of a client or of pipeline files."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from magicbyte.cli.config.servers import SERVERS
from magicbyte.kit.extras import require
from serdes.console.outcome import BAD_USAGE, OK, Ended

if TYPE_CHECKING:
    from magicbyte.kit.settings.catalog import Catalog
    from magicbyte.kit.settings.section import Section

FORMATS = ("md", "properties", "json-schema", "env")
WHOSE = ("registry", "rest-proxy", "ui", "client", "pipeline", "check")


@dataclass(frozen=True, slots=True)
class _Document:
    """A file of settings with sections, which no properties can hold.

    Attributes:
        title: The title of the page.
        language: The language of the file.
        restart: When the settings are read.
        section: The function that imports the section with all settings.
    """

    title: str
    language: str
    restart: str
    section: Callable[[], type[Section]]


def print_reference(options: argparse.Namespace) -> int:
    """Print a reference; returns the exit code."""
    sys.stdout.write(reference(options.whose, options.format))
    return OK


def reference(whose: str, form: str) -> str:
    """A reference.

    Args:
        whose: One of WHOSE.
        form: One of FORMATS.

    Raises:
        Ended: The settings have no such form.
        ExtraMissing: The settings need an extra that is not installed.
    """
    if form == "json-schema":
        return json.dumps(_schema(whose), indent=2) + "\n"
    if whose in _DOCUMENTS:
        return _document(_DOCUMENTS[whose], whose, form)
    from magicbyte.kit.settings import catalog_formats as formats  # noqa: PLC0415 - the extra is checked first

    writers = {"md": formats.markdown, "properties": formats.properties, "env": formats.environment}
    return writers[form](catalog_of(whose))


def catalog_of(whose: str) -> Catalog:
    """The catalog of a server's or a client's settings.

    Raises:
        ExtraMissing: The extra `server` is not installed.
    """
    require("server", user="`magicbyte config`")
    if whose == "client":
        from magicbyte.kit.settings.catalog import Catalog  # noqa: PLC0415 - after the check for the extra
        from serdes.client.catalog import client_groups  # noqa: PLC0415

        return Catalog("a registry client", "client", client_groups())
    return SERVERS[whose].all_settings()


def _document(document: _Document, whose: str, form: str) -> str:
    if form != "md":
        raise Ended(
            BAD_USAGE, f"--format {form}: these settings are {document.language}, not properties; use md or json-schema"
        )
    from magicbyte.kit.settings.generated import reference as tables  # noqa: PLC0415

    head = f"# {document.title}\n\n`magicbyte config reference {whose}` writes this page. {document.restart}\n\n"
    return head + tables(document.section())


def _schema(whose: str) -> Mapping[str, Any]:
    if whose == "pipeline":
        from magicbyte.kit.settings.generated import document_schema  # noqa: PLC0415 - as above

        return document_schema(_pipeline(), "Magicbyte pipeline")
    from magicbyte.cli.settings_schema import SCHEMAS  # noqa: PLC0415 - as above

    return SCHEMAS[whose]()


def _pipeline() -> type[Section]:
    require("spark", user="`magicbyte config`", modules=("yaml",))
    from spark_avro.pipeline.file.pipeline import Pipeline  # noqa: PLC0415 - after the check for YAML

    return Pipeline


def _check() -> type[Section]:
    from magicbyte.check.config.config import Config  # noqa: PLC0415 - only for its reference

    return Config


_DOCUMENTS = {
    "pipeline": _Document(
        "Settings of a pipeline file",
        "YAML",
        "A pipeline reads its file when it starts, so each change needs a restart.",
        _pipeline,
    ),
    "check": _Document(
        "Settings of `magicbyte check`", "TOML", "They are in `magicbyte.toml`, which each run reads.", _check
    ),
}
