"""The form of a pipeline's own log lines; those of Spark have Spark's."""

from __future__ import annotations

import logging
import sys

from magicbyte.kit.logs.set_up import Form, set_up_logs
from magicbyte.kit.logs.signals import take_log_signals

#: The forms that a pipeline's log may have.
FORMS = (Form.TEXT.value, Form.JSON.value)


def set_up_run_logs(form: str, name: str) -> None:
    """Log to standard error in one of `FORMS`; JSON lines name the pipeline."""
    if form == Form.JSON:
        set_up_logs("info", form=form, node=name)
    else:
        logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(levelname)s %(message)s")
        for library in ("py4j", "httpx"):
            logging.getLogger(library).setLevel(logging.WARNING)
    take_log_signals()
