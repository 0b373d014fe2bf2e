"""The exit codes of each command, for its page in docs/commands/."""

from __future__ import annotations

from collections.abc import Mapping

_WRONG_CALL = "the command line is wrong"
_UNWRITABLE = "stdout cannot be written"
_INTERRUPTED = {130: "Ctrl-C ended it"}
_PLAIN = {0: "success", 1: "it failed", 2: _WRONG_CALL, 3: _UNWRITABLE, **_INTERRUPTED}
_SERVER = {
    0: "a stop signal ended it",
    1: "a setting is wrong, or the server could not start or go on",
    2: _WRONG_CALL,
}
_CONSOLE = {
    0: "success",
    1: "a line or a record cannot be converted, or the broker or the registry refuses it",
    2: "the command line or a setting is wrong",
    3: "a broker or the registry cannot be reached or refuses the client, or stdout cannot be written",
    **_INTERRUPTED,
}
_CHECK = {0: "nothing is wrong", 1: "the check failed", 2: _WRONG_CALL, 3: _UNWRITABLE, 100: "there are findings"}
_STATE = {
    0: "success",
    1: "it failed",
    2: _WRONG_CALL,
    3: _UNWRITABLE,
    100: "a schema breaks its readers or writers, or cannot be registered",
}
_CONFIG = {
    0: "success; nothing is refused",
    1: "`from-confluent`: a setting is refused or unknown",
    2: "the command line is wrong, or `check`: the server would refuse to start",
    3: _UNWRITABLE,
}
_LETTERS = {**_CONSOLE, 100: "letters stay that should have been sent"}
_PIPELINE = {
    0: "success",
    1: "it failed",
    2: "the command line or the pipeline file is wrong",
    3: "a broker, a registry or a target cannot be reached, or stdout cannot be written",
    100: "a test, a check or a record failed",
    **_INTERRUPTED,
}
_KEEPING = {
    **_PLAIN,
    3: "a registry, a broker or a database cannot be reached, refuses the client or hides a part, or stdout cannot be "
    "written",
}

_UNREACHABLE = "an end cannot be reached, refuses the client or hides a part from it, or stdout cannot be written"
_RESTORE = {
    0: "all is restored, and the target was read back without a difference",
    1: "the backup or the target is refused and nothing is written, or the target refused something later",
    2: _WRONG_CALL,
    3: _UNREACHABLE,
    100: "conflicts or accepted losses were left out, the file was cut, or the target differs from what was restored",
    **_INTERRUPTED,
}
_VERIFY = {
    0: "nothing differs",
    1: "the backup cannot be used",
    2: _WRONG_CALL,
    3: _UNREACHABLE,
    100: "something differs, or the file was cut",
    **_INTERRUPTED,
}

#: Command -> exit code -> when it ends with this code.
EXIT_CODES: Mapping[str, Mapping[int, str]] = {
    "up": _SERVER,
    "broker": _SERVER,
    "registry": _SERVER,
    "rest-proxy": _SERVER,
    "ui": _SERVER,
    "serve": {**_SERVER, 2: "the command line is wrong, or the variables configure no server or both"},
    "health": {
        0: "the server is healthy",
        1: "the server is not healthy",
        2: _WRONG_CALL,
        3: "no server answers there, or stdout cannot be written",
    },
    "diff": {
        0: "nothing differs, or only what is ignored",
        1: "a source cannot be read",
        2: _WRONG_CALL,
        3: "a source cannot be reached, refuses the client or hides a part from it, or stdout cannot be written",
        100: "the two differ",
        **_INTERRUPTED,
    },
    "systemd": _PLAIN,
    "capacity": _PLAIN,
    "check": _CHECK,
    "generate": {**_PLAIN, 1: "it failed, or `--check` and files are out of date"},
    "register": _STATE,
    "download": _PLAIN,
    "set-compatibility": _PLAIN,
    "plan": _STATE,
    "apply": _STATE,
    "restore": _RESTORE,
    "verify": _VERIFY,
    "backup": {
        0: "the backup is complete, or with `--every` a stop signal ended it",
        1: "the source cannot be read, or the file cannot be written; an older file stays",
        2: _WRONG_CALL,
        3: "the source cannot be reached, refuses the client or hides a part from it, or stdout cannot be written",
        **_INTERRUPTED,
    },
    "migrate": _KEEPING | {0: "ready: nothing stops the migration", 100: "findings stop the migration"},
    "topics": _CONSOLE,
    "groups": _CONSOLE,
    "produce": _CONSOLE,
    "consume": {**_CONSOLE, 4: "`--fail-if-empty`, and there was no record"},
    "ids": {**_CONSOLE, 100: "`--fail-unknown`, and the registry lacks an id"},
    "dead-letter": _LETTERS,
    "rules": {
        **_CONSOLE,
        1: "`test`: an outcome is not the expected one; `dry-run`: a record fails; or the command failed",
        100: "`check`: there are findings",
    },
    "pipeline": _PIPELINE,
    "upgrade": {
        0: "nothing stands against the upgrade, or another node leads",
        1: "a file cannot be read, or the node goes on to lead",
        2: _WRONG_CALL,
        3: "a node or a source cannot be reached or refuses the client, or stdout cannot be written",
        100: "`check`: something stands against the upgrade",
        **_INTERRUPTED,
    },
    "spark-packages": _PLAIN,
    "secure": _PLAIN,
    "user": _PLAIN,
    "key": _PLAIN,
    "acl": _PLAIN,
    "config": _CONFIG,
    "completion": _PLAIN,
    "fsck": _KEEPING | {0: "nothing is wrong; there may be notes", 100: "there are findings"},
    "settings-schema": _PLAIN,
    "demo": _PLAIN,
    "mirror": {
        **_CONSOLE,
        0: "it was stopped, or `--once` and the target is what the source is",
        1: "the ends contradict each other, the target was promoted, or a line is refused",
        3: "`--once`, or at the start: an end cannot be reached or refuses the client; at any time: it hides a part",
        100: "`--compare-requests`: answers differ",
    },
    "dr": {
        **_CONSOLE,
        0: "`promote`: the target takes writes; `drill`: the copy has no difference",
        1: "there is nothing to promote, or the scratch registry is not empty",
        3: "a registry cannot be reached, refuses the client or hides a part from it",
        100: "`promote`: the target is not what the source is; `drill`: the copy differs",
    },
}
