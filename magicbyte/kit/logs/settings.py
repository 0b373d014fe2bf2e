"""Settings of logs, for every server."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from magicbyte.kit.logs.access import LoggedAnswers
from magicbyte.kit.logs.set_up import Form
from magicbyte.kit.settings.kinds import choice
from magicbyte.kit.settings.property_words import Takes
from magicbyte.kit.settings.server import ServerSettings

LOG_LEVELS = ("debug", "info", "warning", "error", "critical")
_LEVEL = choice(*LOG_LEVELS, spell=str.lower)
_FORM = choice(*(form.value for form in Form), spell=str.lower)
_ACCESS = choice(*(access.value for access in LoggedAnswers), spell=str.lower)


class LogSettings(ServerSettings):
    """The settings of the log: its lowest level, the form of its lines, and the access log."""

    title = "Logs"

    log_level: Annotated[str, AfterValidator(_LEVEL.convert), Takes(_LEVEL.words, schema=_LEVEL.schema)] = Field(
        "info", alias="magicbyte.log.level", description="The lowest level that is logged."
    )
    log_format: Annotated[str, AfterValidator(_FORM.convert), Takes(_FORM.words, schema=_FORM.schema)] = Field(
        Form.AUTO.value,
        alias="magicbyte.log.format",
        description="The form of log lines: `json` is one object a line, `text` is for people. `auto`: text if stderr"
        " is a terminal, JSON otherwise.",
    )
    log_access: Annotated[str, AfterValidator(_ACCESS.convert), Takes(_ACCESS.words, schema=_ACCESS.schema)] = Field(
        LoggedAnswers.ERRORS.value,
        alias="magicbyte.log.access",
        description="Which answers have a line of the logger `magicbyte.access`: none, those with a status of 400 or"
        " more, or all. It does not depend on `magicbyte.log.level`.",
    )
