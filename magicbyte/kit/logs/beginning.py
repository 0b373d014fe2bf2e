"""The logs of a server before it has read its settings: errors in settings have the configured form, too."""

from __future__ import annotations

from collections.abc import Mapping

from magicbyte.kit.logs.set_up import set_up_logs
from magicbyte.kit.logs.settings import LogSettings
from magicbyte.kit.logs.signals import take_log_signals


def begin_logs(properties: Mapping[str, str]) -> None:
    """Set up the logs by properties that have not been checked, and handle the signals that change them."""
    settings = _first_settings(properties)
    set_up_logs(settings.log_level, form=settings.log_format, access=settings.log_access)
    take_log_signals()


def _first_settings(properties: Mapping[str, str]) -> LogSettings:
    """The log settings of properties that are not checked yet: what is wrong in them is told later, in this form."""
    fields = {field.alias: name for name, field in LogSettings.model_fields.items() if field.alias}
    found = LogSettings.model_validate({})
    for name in fields.keys() & properties.keys():
        try:
            one = LogSettings.model_validate({name: str(properties[name])})
        except ValueError:
            continue
        found = found.model_copy(update={fields[name]: getattr(one, fields[name])})
    return found
