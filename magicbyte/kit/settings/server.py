"""Server settings by Confluent's property names, checked and typed."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from magicbyte.kit.secret import hide_user_info, shown
from magicbyte.kit.settings.kinds import ProblemError, choice
from magicbyte.kit.settings.place import NOWHERE, Finding, FindingsError, SettingsError, nearest, place_of
from magicbyte.kit.settings.property_words import BYTES, MILLISECONDS, SECONDS, Takes, problem_of

log = logging.getLogger("magicbyte.kit.settings")

#: The version since which there is a property without `Since`.
FIRST_RELEASE = "0.2.0"


@dataclass(frozen=True, slots=True)
class Since:
    """An annotation of a property that is younger than the first release: the version that brought it."""

    version: str


@dataclass(frozen=True, slots=True)
class Reloaded:
    """An annotation of a property that names files: the running server reads them again when they change."""


class ServerSettings(BaseModel):
    """Typed settings whose aliases are property names; a subclass lists them.

    An unknown name logs a warning with the nearest known name. A subclass that passes properties on keeps all of them
    in a field `properties`.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)
    #: The title of the properties that a subclass itself adds, in the reference.
    title: ClassVar[str] = ""

    @classmethod
    def passed_on(cls) -> Mapping[str, str]:
        """Prefixes of names that are passed on unchecked -> what takes them."""
        return {}

    @classmethod
    def open_prefixes(cls) -> tuple[str, ...]:
        """Prefixes of names that are passed on unchecked."""
        return tuple(cls.passed_on())

    @classmethod
    def older_names(cls) -> Mapping[str, str]:
        """Older names of properties -> their names now."""
        return {}

    @classmethod
    def translated(cls) -> Mapping[str, str]:
        """Properties of Confluent's that set other properties -> a sentence that says which."""
        return {}

    @classmethod
    def not_kept(cls) -> Mapping[str, str]:
        """Properties that ask for a protection this server lacks -> the text of the refusal."""
        return {}

    @classmethod
    def without_effect(cls) -> Mapping[str, str]:
        """Properties of the reference that have no effect here -> the reason."""
        return {}

    @classmethod
    def from_properties(cls, properties: Mapping[str, str]) -> Self:
        """Check and convert the properties; logs a warning for unknown properties and for those without effect.

        Raises:
            FindingsError: Values are wrong; names the properties.
        """
        idle = cls.without_effect()
        for name in properties.keys() & idle.keys():
            log.warning(
                "%sproperty %s has no effect: %s",
                place_before(properties[name]),
                name,
                idle[name],
                extra={"event": "property_without_effect", "property": name},
            )
        properties = {name: value for name, value in properties.items() if name not in idle}
        setting_names = {field.alias or name for name, field in cls.model_fields.items()}
        for name, value in properties.items():
            if name not in setting_names and not name.startswith(cls.open_prefixes() or ("\0",)):
                log.warning(
                    "%sunknown property %s%s",
                    place_before(value),
                    name,
                    nearest(name, setting_names),
                    extra={"event": "property_unknown", "property": name},
                )
        plain = {name: str(value) for name, value in properties.items()}
        try:
            typed = {name: value for name, value in plain.items() if name in setting_names}
            settings = cls.model_validate({**typed, "properties": plain})
        except ValidationError as error:
            raise FindingsError(cls._finding(item, properties) for item in error.errors()) from None
        return settings

    @classmethod
    def _finding(cls, error: Any, properties: Mapping[str, str]) -> Finding:
        """An error of pydantic's as a finding."""
        name = str(error["loc"][0]) if error["loc"] else "settings"
        value = properties.get(name, "")
        return Finding(place_of(value), name, hide_user_info(cls._problem(name, error, str(value))))

    @classmethod
    def _problem(cls, name: str, error: Any, value: str) -> str:
        cause = error.get("ctx", {}).get("error")
        if cause is not None:
            # A kind's own problem already tells the value, and so do others.
            is_told = isinstance(cause, ProblemError) or _names(str(cause), value)
            return str(cause) if is_told else f"{cause} (was {shown(name, value)})"
        model = next((field for key, field in cls.model_fields.items() if name == (field.alias or key)), None)
        if model is None:
            return str(error["msg"])
        return problem_of(model, value, shown(name, value))


def raise_problems(problems: Iterable[str]) -> None:
    """Raise SettingsError with a line for each problem, if there are any; equal ones are one."""
    if texts := tuple(dict.fromkeys(problems)):
        raise SettingsError("\n".join(texts))


def place_before(value: object) -> str:
    """The place of a value that knows it, to begin a message with."""
    place = place_of(value)
    return "" if place == NOWHERE else f"{place}: "


def parts_of(value: Any) -> tuple[str, ...]:
    """The parts of a property with commas between, without blanks around them."""
    return tuple(part.strip() for part in str(value).split(",") if part.strip())


ByteSize = Annotated[int, Takes(BYTES)]
Milliseconds = Annotated[int, Takes(MILLISECONDS)]
Seconds = Annotated[float, Takes(SECONDS)]
#: A property with commas between its parts.
CommaList = Annotated[tuple[str, ...], BeforeValidator(parts_of), Takes("a list, with commas between")]


def list_of(*words: str) -> Callable[[Any], tuple[str, ...]]:
    """A validator of lists of some words, at least one."""
    word = choice(*words)

    def validate(value: Any) -> tuple[str, ...]:
        return tuple(map(word.convert, parts_of(value) or ("",)))

    return validate


def _names(text: str, value: str) -> bool:
    """Whether a message already has a value: first, or in quotation marks."""
    return text.startswith(f"{value} ") or any(quoted in text for quoted in (repr(value), f'"{value}"'))
