"""From schemas to the files of a package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from compat.schema import AVRO, JSON, PROTOBUF
from magicbyte.generate.avro.classes import classes_of as avro_classes
from magicbyte.generate.json_schema.classes import classes_of as json_classes
from magicbyte.generate.literals import docstring
from magicbyte.generate.model import Module, Source
from magicbyte.generate.module_text import MARK, module_text
from magicbyte.generate.names import distinct, identifier
from magicbyte.generate.protobuf import protobuf_files
from magicbyte.kit.failure import Failure

_INIT = "\n".join([*docstring(f"Typed records of schemas.\n\n{MARK}", ""), ""])


def package_files(sources: Sequence[Source], *, package: str = "", frozen: bool = False) -> dict[str, str]:
    """The files of a package with the classes of all schemas: text by path.

    Args:
        sources: The schemas, each after those that it refers to.
        package: The package's name, with dots; its folders are part of the paths.
        frozen: Whether records cannot be changed.

    Raises:
        Failure: A schema is invalid, has no class to make, or two define one name differently.
        ExtraMissing: There are Protobuf schemas, and the extra `generate` is not installed.
    """
    files = protobuf_files([source for source in sources if source.schema_type == PROTOBUF], package)
    others = [source for source in sources if source.schema_type != PROTOBUF]
    files |= record_files(others, frozen=frozen) if others else {}
    folders = package.split(".") if package else []
    placed = {"/".join([*folders, path]): text for path, text in files.items()}
    for depth in range(1, len(folders) + 1):
        placed.setdefault("/".join([*folders[:depth], "__init__.py"]), _INIT)
    return placed


def record_files(sources: Sequence[Source], *, frozen: bool = False) -> dict[str, str]:
    """The modules with the classes of Avro schemas and JSON Schemas: text by file name, `__init__.py` included."""
    try:
        modules = [
            *avro_classes([source for source in sources if source.schema_type == AVRO]),
            *json_classes([source for source in sources if source.schema_type == JSON]),
        ]
        return _texts(modules, frozen=frozen)
    except RecursionError:
        raise Failure("a schema is nested too deeply") from None


def _texts(modules: Sequence[Module], *, frozen: bool) -> dict[str, str]:
    by_key = {module.key: module for module in modules}
    for key, name in _named(modules).items():
        by_key[key].name = name
    return {
        "__init__.py": _INIT,
        **{f"{module.name}.py": module_text(module, by_key, frozen=frozen) for module in modules},
    }


def _named(modules: Sequence[Module]) -> Mapping[str, str]:
    """The names of modules by key, in lower case; names that differ by case alone get `_`."""
    # A name that is in lower case already comes first, and keeps its name when another one comes.
    ordered = sorted(modules, key=lambda module: (module.name != module.name.lower(), module.name, module.key))
    names = distinct(
        [module.key for module in ordered],
        lambda key: identifier(next(module.name for module in ordered if module.key == key).lower()),
    )
    return {module.key: names[module.key] for module in modules}
