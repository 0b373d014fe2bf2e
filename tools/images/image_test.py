"""`make image-test`: lints the Dockerfiles, builds the image without a daemon, and runs it as a container engine would.

It takes Debian's packages as the base, as Docker Hub may be out of reach; the workflow images.yml takes the real one.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from magicbyte import __version__
from magicbyte.platform.broker import free_port
from tools.images.build import IMAGES, ROOT, build, docker_config, make_context
from tools.images.layout import Image, read
from tools.images.packages import missing
from tools.images.sandbox import USER, Container
from tools.images.sbom import bill

#: The most bytes of all layers, compressed, and of ours alone.
BUDGET, OUR_BUDGET = 115_000_000, 65_000_000
_TOOLS = ROOT / ".venv-deploy" / "bin"
_SECRETS = re.compile(r"(?i)(password|passwd|secret|token|api.?key)\s*=|-----BEGIN|//[^/\s:]+:[^@\s]+@")
_STOP_SECONDS = 5.0
_VALIDATE = """
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
sys.exit(str(JsonStrictValidator(SchemaVersion.V1_6).validate_str(sys.stdin.read()) or "") or 0)
"""


def main() -> int:
    """Run all steps and return the exit code."""
    lacking = missing()
    if lacking:
        print(f"image-test: not run: {lacking}")
        return 1 if os.environ.get("CI") == "true" else 0
    with step("hadolint"):
        subprocess.run([_TOOLS / "hadolint", *sorted(IMAGES.glob("*.Dockerfile"))], check=True)
    with tempfile.TemporaryDirectory(prefix="magicbyte-image-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        with step("build"):
            make_context(folder / "context")
            build(folder / "context", folder / "layout", version=__version__)
        image = read(folder / "layout")
        with step("config, history and sizes"):
            check_config(docker_config(), image)
            check_sizes(image)
        with step("unpack"):
            image.unpack(folder / "root")
        with step("bill of materials"):
            check_bill(folder / "root")
        with step("registry"):
            check_registry(folder)
        with step("REST proxy"):
            check_rest_proxy(folder)
    return 0


@contextmanager
def step(name: str) -> Iterator[None]:
    """Print how long a step took."""
    began = time.monotonic()
    yield
    print(f"image-test: {name}: {time.monotonic() - began:.1f} s", flush=True)


def require(expected: object, found: object, what: str) -> None:
    """End with a message if something is not as it has to be."""
    if expected != found:
        raise SystemExit(f"image-test: {what}: expected {expected!r}, found {found!r}")


def check_config(config: Mapping[str, Any], image: Image) -> None:
    """Check what the image says of itself."""
    require(f"{USER}:{USER}", config["User"], "user")
    require((["magicbyte"], ["serve"]), (config["Entrypoint"], config["Cmd"]), "command")
    require(["CMD", "magicbyte", "health"], config["Healthcheck"]["Test"], "health check")
    require("SIGTERM", config["StopSignal"], "stop signal")
    require({"8081/tcp", "8082/tcp"}, set(config["ExposedPorts"]), "ports")
    require({"/tmp", "/var/lib/magicbyte"}, set(config["Volumes"]), "volumes")  # noqa: S108  the container's
    label = "org.opencontainers.image."
    require(
        ("Magicbyte", "Apache-2.0", __version__),
        tuple(config["Labels"][label + name] for name in ("title", "licenses", "version")),
        "labels",
    )
    steps = [str(entry.get("created_by")) for entry in image.config["history"]]
    for line in (*steps, *config["Env"]):
        require(None, _SECRETS.search(line), f"a secret in the image's history or variables: {line}")
    require([], [line for line in steps if "pip" in line or "install.sh" in line], "steps of the build stage")


def check_sizes(image: Image) -> None:
    """Check the budget; the first layer is the base."""
    base, *ours = image.layer_bytes
    print(f"image-test: base {base / 1e6:.1f} MB, ours {sum(ours) / 1e6:.1f} MB, compressed")
    if base + sum(ours) > BUDGET or sum(ours) > OUR_BUDGET:
        raise SystemExit(f"image-test: over the budget of {BUDGET / 1e6:.0f} MB, or {OUR_BUDGET / 1e6:.0f} MB of ours")


def check_bill(root: Path) -> None:
    """Check that the bill is a valid one, and lists what is locked and nothing else."""
    made = bill(root, "magicbyte", __version__)
    subprocess.run([_TOOLS / "python", "-c", _VALIDATE], input=json.dumps(made), text=True, check=True)
    listed = {part["purl"].removeprefix("pkg:pypi/") for part in made["components"] if "pkg:pypi/" in part["purl"]}
    locked = set(re.findall(r"(?m)^([\w.-]+==[\w.]+)", (IMAGES / "requirements.lock").read_text()))
    foreign = listed - {line.replace("==", "@") for line in locked} - {f"magicbyte@{__version__}"}
    require(set(), foreign, "distributions that are not in the lock")
    missed = [
        name for name in ("confluent-kafka", "psycopg-binary", "uvloop") if not any(name in part for part in listed)
    ]
    require([], missed, "distributions that the image lacks")


@contextmanager
def running(folder: Path, name: str, variables: Mapping[str, str]) -> Iterator[Container]:
    """Run a container until the end of the block; its log is shown if something failed."""
    log = folder / f"{name}.log"
    config = docker_config()
    container = Container(folder / "root", config, folder / f"{name}-state", variables=variables, log=log)
    try:
        yield container
    except BaseException:
        sys.stderr.write(log.read_text())
        raise
    finally:
        container.kill()


def check_registry(folder: Path) -> None:
    """Run a registry as a container for Confluent's image would be configured, and ask it."""
    port = free_port()
    variables = {
        "SCHEMA_REGISTRY_MAGICBYTE_STORAGE": "sqlite:////var/lib/magicbyte/schemas.db",
        "SCHEMA_REGISTRY_LISTENERS": f"http://0.0.0.0:{port}",
        "SCHEMA_REGISTRY_HOST_NAME": "schema-registry",
        "SCHEMA_REGISTRY_PORT": "tcp://10.0.0.1:8081",
    }
    with running(folder, "registry", variables) as container:
        wait_until_healthy(container, port)
        body = json.dumps({"schema": '"string"'})
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("POST", "/subjects/a/versions", body, {"Content-Type": "application/json"})
        require(1, json.load(connection.getresponse())["id"], "a registration")
        connection.close()
        ready = container.run(["magicbyte", "health", "--ready"])
        require((0, True), (ready.returncode, '"status":"UP"' in ready.stdout), f"readiness: {ready.stderr}")
        # Of processes it sees its own few, and not those of the machine.
        few = "sum(name.isdigit() for name in os.listdir('/proc')) < 10"
        who = container.run(["python", "-c", f"import os; print(os.getuid(), {few}); open('/x', 'w')"])
        require((f"{USER} True", True), (who.stdout.strip(), "Read-only file system" in who.stderr), "the sandbox")
        code, seconds = container.stop()
        require((0, True), (code, seconds < _STOP_SECONDS), f"the end after SIGTERM, in {seconds:.1f} s")
    require(True, (folder / "registry-state/schemas.db").exists(), "the database in the volume")
    told = (folder / "registry.log").read_text()
    require(1, told.count("that Kubernetes sets for a Service"), "the warning of service links")


def check_rest_proxy(folder: Path) -> None:
    """Run a REST proxy without a broker: it lives, and is not ready."""
    port = free_port()
    variables = {"KAFKA_REST_BOOTSTRAP_SERVERS": "127.0.0.1:1", "KAFKA_REST_LISTENERS": f"http://0.0.0.0:{port}"}
    with running(folder, "rest-proxy", variables) as container:
        wait_until_healthy(container, port)
        ready = container.run(["magicbyte", "health", "--ready", "--timeout", "30"])
        require((1, True), (ready.returncode, "no broker answers" in ready.stdout), f"readiness: {ready.stderr}")
        code, seconds = container.stop()
        require((0, True), (code, seconds < _STOP_SECONDS), f"the end after SIGTERM, in {seconds:.1f} s")


def wait_until_healthy(container: Container, port: int) -> None:
    """Run the image's health check until it succeeds."""
    while True:
        checked = container.run(docker_config()["Healthcheck"]["Test"][1:])
        if checked.returncode == 0:
            require(True, f"http://127.0.0.1:{port}/health/live: 200" in checked.stdout, checked.stdout)
            return
        if not container.is_running:
            raise SystemExit("image-test: the server ended by itself")
        require(True, checked.returncode == 3, f"the health check ended otherwise: {checked.stderr}")
        time.sleep(0.2)


if __name__ == "__main__":
    if shutil.which("setpriv") is None:
        sys.exit("image-test: there is no setpriv: it is in Debian's util-linux")
    sys.exit(main())
