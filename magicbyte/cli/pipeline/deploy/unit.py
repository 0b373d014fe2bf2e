"""`unit`: prints the systemd unit that runs a pipeline."""

from __future__ import annotations

import argparse
import os
import pwd
import sys
from collections.abc import Sequence
from pathlib import Path

from magicbyte.cli.pipeline.deploy.declared import Declared, declared, unhealthy_after
from magicbyte.cli.pipeline.deploy.resources import MEMORY, driver_memory, local_workers, whole_number
from magicbyte.cli.pipeline.outcome import FINDINGS
from magicbyte.cli.systemd.unit_text import command, installed_program, plain, unit_text, user
from serdes.console.outcome import BAD_USAGE

#: The starts within a time after which systemd gives up, and the pause before a restart: a broker may be away for an
#: hour or two (exit code 3), and a refused batch (exit code 1) does not start Spark for ever. Starts by a timer count,
#: too: one may come each minute.
_STARTS, _WITHIN, _WITHIN_BY_TIMER = "100", "1d", "1h"
_PAUSE = "30s"
#: How long a stop waits for the batch that is running. A batch that is killed is repeated by the next run.
_STOP = "5min"
#: How long systemd waits for a sign of life. A run that is healthy sends one more often.
_WATCHDOG = "1min"

#: Limits that never disturb a driver. Java compiles code at run time, so memory may be written and executed.
#: Targets may be folders anywhere outside of /usr and /etc. A private /tmp would hide targets there, and delete them.
_HARDENING = [
    ("NoNewPrivileges", "yes"),
    ("CapabilityBoundingSet", ""),
    ("ProtectSystem", "full"),
    ("PrivateDevices", "yes"),
    ("ProtectClock", "yes"),
    ("ProtectControlGroups", "yes"),
    ("ProtectHostname", "yes"),
    ("ProtectKernelLogs", "yes"),
    ("ProtectKernelModules", "yes"),
    ("ProtectKernelTunables", "yes"),
    ("RestrictAddressFamilies", "AF_UNIX AF_INET AF_INET6 AF_NETLINK"),
    ("RestrictNamespaces", "yes"),
    ("RestrictRealtime", "yes"),
    ("RestrictSUIDSGID", "yes"),
    ("LockPersonality", "yes"),
    ("SystemCallArchitectures", "native"),
]


def unit(options: argparse.Namespace) -> int:
    """Print the unit; returns the exit code."""
    sys.stdout.write(unit_of(declared(options), options, installed_program(), Path.cwd()))
    return 0


def unit_of(pipeline: Declared, options: argparse.Namespace, program: Sequence[str], folder: Path) -> str:
    """The unit's text.

    Args:
        pipeline: The file.
        options: The command's options.
        program: The absolute path of the command, and the words that come before its arguments.
        folder: The folder from which relative paths of the file count.

    Raises:
        Ended: a path or option cannot stand in a unit.
        PipelineError: a property of Spark's is no size or number.
    """
    name = pipeline.pipeline.name
    runs_on = pipeline.runs_on
    environment = options.environment_file or f"/etc/magicbyte/{name}.env"
    is_needed = any(pipeline.variables.values())
    service = [
        # The watchdog counts from the start. A timer waits until its unit has ended.
        ("Type", "exec" if runs_on else "oneshot"),
        ("User", user(options.user or _account())),
        ("WorkingDirectory", plain(str(folder))),
        ("EnvironmentFile", ("" if is_needed else "-") + plain(os.path.abspath(environment))),  # noqa: PTH100
        ("ExecStart", command(program[0], [*program[1:], *_arguments(pipeline, options)])),
        ("Restart", "on-failure"),
        ("RestartSec", _PAUSE),
        ("RestartPreventExitStatus", f"{BAD_USAGE} {FINDINGS}"),
        # The signal goes to the driver alone: it would end the JVM, and with it the batch.
        ("KillMode", "mixed"),
        ("KillSignal", "SIGTERM"),
        ("TimeoutStopSec", _STOP),
    ]
    service += [("WatchdogSec", _WATCHDOG), ("WatchdogSignal", "SIGKILL")] if runs_on else []
    service += [*_resources(pipeline, options.master), *_HARDENING]
    sections = {
        "Unit": [
            ("Description", f"Magicbyte pipeline {name}"),
            ("Wants", "network-online.target"),
            ("After", "network-online.target"),
            ("StartLimitIntervalSec", _WITHIN if runs_on else _WITHIN_BY_TIMER),
            ("StartLimitBurst", _STARTS),
        ],
        "Service": service,
        # A timer starts a unit that ends by itself.
        **({"Install": [("WantedBy", "multi-user.target")]} if runs_on else {}),
    }
    return unit_text(_head(pipeline, environment), sections)


def _account() -> str:
    """This process's account: its name, or its number if it has no name."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


def _arguments(pipeline: Declared, options: argparse.Namespace) -> list[str]:
    words = ["pipeline", "run", str(pipeline.file), *pipeline.arguments]
    words += [] if options.master == "local[*]" else ["--master", options.master]
    words += ["--metrics", options.metrics]
    return words + unhealthy_after(options)


def _resources(pipeline: Declared, master: str) -> list[tuple[str, str]]:
    """The limits of memory and processors; none if they depend on a placeholder or on the machine."""
    limits: list[tuple[str, str]] = []
    workers = local_workers(pipeline.pipeline, pipeline.spark, master)
    if workers is not None and not MEMORY.intersection(pipeline.hidden):
        limits.append(("MemoryMax", f"{driver_memory(pipeline.pipeline, pipeline.spark, workers)}M"))
    cores = pipeline.spark.get("spark.driver.cores")
    if cores is not None:
        # The JVM counts the processors that it may use, and local[*] takes as many.
        limits.append(("CPUQuota", f"{100 * whole_number(pipeline.pipeline, 'spark.driver.cores', cores)}%"))
    return limits


def _head(pipeline: Declared, environment: str) -> list[str]:
    name = f"magicbyte-{pipeline.pipeline.name}"
    lines = [f"/etc/systemd/system/{name}.service, printed by `magicbyte pipeline unit`."]
    lines += [] if pipeline.runs_on else [f"The pipeline ends when it has read all records: {name}.timer starts it."]
    if pipeline.variables:
        variables = (f"{name}{'' if needed else ' (has a default)'}" for name, needed in pipeline.variables.items())
        lines += [f"{environment} sets {', '.join(variables)}; mode 0600."]
    return lines
