"""Properties in environment variables, as Confluent's images name them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from magicbyte.kit.failure import Failure
from magicbyte.kit.secret import hide_user_info, is_secret

#: The value of the variable NAME_PORT that Kubernetes sets for a Service, such as tcp://10.0.0.1:8081.
_SERVICE_ADDRESS = re.compile(r"(tcp|udp|sctp)://\S+:\d+")
#: The other variables of such a Service, after the Service's name.
_SERVICE_LINK = re.compile(r"_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_(TCP|UDP|SCTP)(_\w+)?)?)")
#: A Service that is called like the server: these names cannot be a property's, whatever the value is.
_INJECTED = re.compile(r"SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_\w+")
#: Properties whose own names end so: `magicbyte.users.file`, and those of Kafka's clients.
_NAMES_A_FILE = re.compile(r"(^MAGICBYTE_USERS|_ASSERTION|_PRIVATE_KEY)_FILE$")


@dataclass(frozen=True, slots=True)
class EnvironmentProperties:
    """Variables with a prefix.

    Attributes:
        properties: The properties that they set.
        variables: The variable of each property.
        service_links: The variables that Kubernetes set for a Service.
    """

    properties: dict[str, str]
    variables: dict[str, str]
    service_links: tuple[str, ...]

    def warning(self) -> str:
        """A line about the variables of Services, which are no settings; empty if there are none."""
        if not self.service_links:
            return ""
        return (
            f"variables that Kubernetes sets for a Service are no settings: {', '.join(self.service_links)};"
            " `enableServiceLinks: false` in the pod's spec leaves them out"
        )


def properties_from_environment(prefix: str, environment: Iterable[tuple[str, str]] | None = None) -> dict[str, str]:
    """Return the properties set by variables with a prefix; see `read_environment`."""
    return read_environment(prefix, environment).properties


def read_environment(prefix: str, environment: Iterable[tuple[str, str]] | None = None) -> EnvironmentProperties:
    """Read the variables with a prefix by the rules of Confluent's images.

    `_` means `.`, `__` means `-` and `___` means `_`; `NAME_FILE` gives the path of a file that holds the value.
    Variables that Kubernetes injects for a Service are told apart.

    Raises:
        Failure: A file cannot be read.
    """
    ours = {
        name: value
        for name, value in (os.environ.items() if environment is None else environment)
        if name.startswith(prefix)
    }
    # SCHEMA_REGISTRY_PORT=tcp://.. tells that a Service is called schema-registry.
    services = [
        name.removesuffix("_PORT")
        for name, value in ours.items()
        if name.endswith("_PORT") and _SERVICE_ADDRESS.fullmatch(value)
    ]
    links = []
    properties: dict[str, str] = {}
    variables: dict[str, str] = {}
    for name, value in ours.items():
        rest = name.removeprefix(prefix)
        if _INJECTED.fullmatch(rest) or any(
            name.startswith(service) and _SERVICE_LINK.fullmatch(name.removeprefix(service)) for service in services
        ):
            links.append(name)
        else:
            if rest.endswith("_FILE") and not _NAMES_A_FILE.search(rest):
                rest, value = rest.removesuffix("_FILE"), _content(name, value)  # noqa: PLW2901
            properties[_property_of(rest)] = value
            variables[_property_of(rest)] = name
    return EnvironmentProperties(properties, variables, tuple(sorted(links)))


def variables_of_properties(
    prefix: str, environment: Iterable[tuple[str, str]] | None = None
) -> dict[str, tuple[str, str]]:
    """Return the properties set by variables with a prefix, each with its value and the variable that sets it."""
    read = read_environment(prefix, environment)
    return {name: (value, read.variables[name]) for name, value in read.properties.items()}


def _content(name: str, path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise Failure(f"{name}: {path}, which has the value, cannot be read: {reason}") from None


def _property_of(rest: str) -> str:
    separators = {"_": ".", "__": "-", "___": "_"}
    return "".join(separators.get(part, part) for part in re.split(r"(_+)", rest.lower()))


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
