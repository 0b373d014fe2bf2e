"""Properties in environment variables, as Confluent's images name them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from magicbyte.kit.secret import hide_user_info, is_secret

#: Variables that Kubernetes injects for a Service, such as SCHEMA_REGISTRY_PORT=tcp://10.0.0.1:8081; not settings.
_SERVICE_LINK = re.compile(r".*_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_\w+)?)")
#: The part of such a name after the Service's name, if it cannot be a property's.
_INJECTED = re.compile(r"SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_\w+")


def properties_from_environment(prefix: str, environment: Iterable[tuple[str, str]] | None = None) -> dict[str, str]:
    """Return the properties set by variables with a prefix, by the rules of Confluent's images.

    `_` means `.`, `__` means `-` and `___` means `_`; `NAME_FILE` gives the path of a file that holds the value.
    Variables that Kubernetes injects for a Service of the same name are skipped.
    """
    return {name: value for name, (value, _) in variables_of_properties(prefix, environment).items()}


def variables_of_properties(
    prefix: str, environment: Iterable[tuple[str, str]] | None = None
) -> dict[str, tuple[str, str]]:
    """Return the same properties, each with its value and the variable that sets it."""
    properties: dict[str, tuple[str, str]] = {}
    for variable, value in os.environ.items() if environment is None else environment:
        if not variable.startswith(prefix) or (_SERVICE_LINK.fullmatch(variable) and "://" in value):
            continue
        rest = variable.removeprefix(prefix)
        if _INJECTED.fullmatch(rest):
            continue
        if rest.endswith("_FILE") and Path(value).is_file():
            rest, value = rest.removesuffix("_FILE"), Path(value).read_text(encoding="utf-8").strip()  # noqa: PLW2901
        parts = re.split(r"(_+)", rest.lower())
        separators = {"_": ".", "__": "-", "___": "_"}
        properties["".join(separators.get(part, part) for part in parts)] = value, variable
    return properties


def variable_of(prefix: str, name: str) -> str:
    """Return the variable of a property, as `properties_from_environment` reads it."""
    spelled = {".": "_", "-": "__", "_": "___"}
    return prefix + re.sub(r"[._-]", lambda match: spelled[match[0]], name).upper()


def forget_secret_variables(prefix: str, names: Iterable[str]) -> None:
    """Remove secrets from the environment of this process, which its children inherit.

    Args:
        prefix: Marks variables that are properties; those whose name or value is a secret's are removed.
        names: Further variables to remove.
    """
    for name, value in tuple(os.environ.items()):
        looks_secret = is_secret(name.lower().replace("_", ".")) or hide_user_info(value) != value
        if name in names or (name.startswith(prefix) and looks_secret):
            del os.environ[name]
