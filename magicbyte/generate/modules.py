"""From schemas to the files of a package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from compat.schema import AVRO
from magicbyte.generate.literals import docstring
from magicbyte.generate.model import Module, Source
from magicbyte.generate.module_text import MARK, module_text
from magicbyte.generate.names import distinct, identifier


def record_files(sources: Sequence[Source], *, frozen: bool = False) -> dict[str, str]:
    """The modules with the classes of Avro schemas and JSON Schemas: text by file name, `__init__.py` included.

    Args:
        sources: The schemas, each after those that it refers to.
        frozen: Whether records cannot be changed.

    Raises:
        Failure: A schema is invalid, has no class to make, or two define one name differently.
    """
    from magicbyte.generate.avro.classes import classes_of as avro_classes  # noqa: PLC0415

    modules = [
        *avro_classes([source for source in sources if source.schema_type == AVRO]),
    ]
    by_key = {module.key: module for module in modules}
    files = {"__init__.py": "\n".join([*docstring(f"Typed records of schemas.\n\n{MARK}", ""), ""])}
    for module, name in _named(modules).items():
        by_key[module].name = name
    for module in modules:
        files[f"{module.name}.py"] = module_text(module, by_key, frozen=frozen)
    return files


def _named(modules: Sequence[Module]) -> Mapping[str, str]:
    """The names of modules by key, in lower case; names that differ by case alone get `_`."""
    # A name that is in lower case already comes first, and keeps its name when another one comes.
    ordered = sorted(modules, key=lambda module: (module.name != module.name.lower(), module.name, module.key))
    names = distinct(
        [module.key for module in ordered],
        lambda key: identifier(next(module.name for module in ordered if module.key == key).lower()),
    )
    return {module.key: names[module.key] for module in modules}
