"""`magicbyte up`: a Kafka broker, a schema registry and a REST proxy on this machine, until Ctrl-C."""

from __future__ import annotations

import argparse
import io
import os
import re
import secrets
import shutil
import socket
import ssl
import sys
import time
import webbrowser
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from magicbyte.cli.flags import add_bootstrap_servers, add_pipelines
from magicbyte.cli.servers.stopping import StopRequested, stop_on_signals
from magicbyte.kit.command_line import CommandParser
from magicbyte.kit.failure import DATA_FOLDER, Failure, data_folder
from magicbyte.kit.processes import process
from magicbyte.kit.processes.stop_signals import ignore_stop_signals
from magicbyte.kit.properties_file import read_properties_file
from magicbyte.kit.whole_file import write_whole
from magicbyte.platform.broker import LocalBroker, port_is_free
from magicbyte.platform.broker.properties import properties_text
from magicbyte.platform.broker.sign_in import broker_sign_in, client_sign_in
from magicbyte.platform.server_process import ServerFailed, ServerProcess

if TYPE_CHECKING:
    from magicbyte.security.first_try import Secured

#: Seconds that a server may take to answer; a remote Kafka may be slow.
_START_SECONDS = 60


def main(arguments: Sequence[str]) -> int:
    """Run until Ctrl-C or SIGTERM and return the exit code."""
    options = _parse(arguments)
    platform: Platform | None = None
    try:
        with stop_on_signals() as check:
            _check_ports(options)
            platform = Platform(options)
            platform.start()
            platform.wait(check)
    except StopRequested:
        pass
    except ServerFailed as failure:
        sys.stderr.writelines(f"    {line}\n" for line in failure.last_lines)
        raise
    finally:
        ignore_stop_signals()
        if platform is not None:
            platform.stop()
    return 0


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = CommandParser(
        prog="magicbyte up",
        description=__doc__,
        examples=(
            "magicbyte up --open",
            "magicbyte up --ephemeral --registry-port 18081",
        ),
    )
    add_bootstrap_servers(parser, default=None, help_text="use this Kafka; start no broker")
    parser.add_argument(
        "--data-dir", type=Path, metavar="DIR", help=f"folder for data and logs (default {DATA_FOLDER})"
    )
    parser.add_argument("--ephemeral", action="store_true", help="keep everything in memory, and lose it at the end")
    parser.add_argument("--secure", action="store_true", help="TLS, sign-in and access rules, made at the first start")
    parser.add_argument("--open", action="store_true", help="open the page in the browser")
    add_pipelines(parser)
    parser.add_argument("--kafka-port", type=int, metavar="PORT", help="the broker's port (default 9092)")
    parser.add_argument(
        "--registry-port", type=int, metavar="PORT", default=8081, help="the registry's port (default 8081)"
    )
    parser.add_argument(
        "--rest-port", type=int, metavar="PORT", default=8082, help="the REST proxy's port (default 8082)"
    )
    options = parser.parse_args(arguments)
    if options.ephemeral and options.data_dir:
        parser.error("--ephemeral keeps nothing: leave out --data-dir")
    if options.bootstrap_servers and options.kafka_port:
        parser.error("--kafka-port is the port of the local broker, which --bootstrap-servers replaces")
    options.kafka_port = options.kafka_port or 9092
    return options


def _check_ports(options: argparse.Namespace) -> None:
    ports = {"--registry-port": options.registry_port, "--rest-port": options.rest_port}
    if not options.bootstrap_servers:
        ports = {"--kafka-port": options.kafka_port, **ports}
    if len(set(ports.values())) < len(ports):
        raise Failure(f"{', '.join(ports)} must differ (they are {', '.join(map(str, ports.values()))})")
    for option, port in ports.items():
        if not 0 < port < 65536:
            raise Failure(f"{option} {port}: a port is a number from 1 to 65535")
        if not port_is_free(port):
            raise Failure(f"port {port} is in use: stop what listens there, or choose another with {option}")


class Platform:
    """The three servers, started in parallel and stopped in the opposite order."""

    def __init__(self, options: argparse.Namespace) -> None:
        """Configure the servers and make the data folder; nothing is started yet."""
        self._ephemeral: bool = options.ephemeral
        self._opens_page: bool = options.open
        if options.secure:
            # The broker's segments, settings and logs are for nobody else; the servers' children inherit this.
            os.umask(0o077)
        self._folder = _make_folder(options)
        self._broker: LocalBroker | None = None
        self._kafka: str = options.bootstrap_servers
        self._secured = _secure(self._folder, options) if options.secure else None
        #: The settings of Kafka clients of our own broker, if it is secured.
        self._kafka_client: Path | None = None
        configs = None if self._secured is None else (self._secured.registry, self._secured.rest_proxy)
        if not options.bootstrap_servers:
            properties: Mapping[str, str] = {}
            if self._secured is not None:
                properties, self._kafka_client, configs = _close_broker(self._secured)
            self._broker = LocalBroker(self._folder, options.kafka_port, properties=properties)
            self._kafka = self._broker.bootstrap_servers
        tls = None if self._secured is None else ssl.create_default_context(cafile=self._secured.ca)
        scheme = "http" if self._secured is None else "https"
        registry_url, rest_url = (f"{scheme}://127.0.0.1:{port}" for port in (options.registry_port, options.rest_port))
        self._registry = ServerProcess(
            "registry",
            [
                *("registry", "--storage", "kafka:", "--bootstrap-servers", self._kafka, "--listen", registry_url),
                *("--rest-url", rest_url),
                *(("--pipelines", options.pipelines) if options.pipelines else ()),
                *([] if configs is None else ["--config", str(configs[0])]),
            ],
            registry_url,
            log=self._folder / "registry.log",
            probe="/subjects",
            tls=tls,
        )
        self._rest_proxy = ServerProcess(
            "REST proxy",
            [
                *("rest-proxy", "--bootstrap-servers", self._kafka, "--schema-registry-url", registry_url),
                *("--listen", rest_url),
                *([] if configs is None else ["--config", str(configs[1])]),
            ],
            rest_url,
            log=self._folder / "rest-proxy.log",
            tls=tls,
        )

    @property
    def _servers(self) -> tuple[ServerProcess, ServerProcess]:
        return self._registry, self._rest_proxy

    def start(self) -> None:
        """Start all servers, and print a line for each one when it answers.

        Raises:
            Failure: a server did not start.
        """
        start_time = time.monotonic()
        if self._broker is None:
            _check_kafka(self._kafka)
        # The servers load their code while the JVM starts, and begin to serve when the pipe closes.
        read_end, write_end = os.pipe()
        try:
            if self._broker is not None:
                self._broker.launch()
            for server in self._servers:
                server.launch(start_when_closed=read_end)
            if self._broker is not None:
                self._broker.wait_until_ready()
        finally:
            os.close(read_end)
            os.close(write_end)
        _report("broker", self._kafka, "" if self._broker else "yours")
        self._await_servers()
        page = f"{self._registry.url}/ui/"
        _report("page", page)
        location = "in memory, gone at the end" if self._ephemeral else f"in {self._folder}"
        if self._secured is not None:
            _report(
                "secure",
                f"curl --cacert {self._secured.ca} --cert {self._secured.client} {self._registry.url}/subjects",
            )
            _report("clients", f"{self._secured.clients} (app, by password)")
            _report("", f"{self._secured.admin} (admin, by certificate)")
            if self._kafka_client is not None:
                _report("", f"{self._kafka_client} (Kafka clients, by password)")
        _report("ready", f"in {time.monotonic() - start_time:.1f} s; data and logs are {location}; Ctrl-C stops all")
        if self._opens_page:
            webbrowser.open(page)

    def _await_servers(self) -> None:
        deadline = time.monotonic() + _START_SECONDS
        unready = list(self._servers)
        while unready:
            for server in list(unready):
                if server.answers():
                    _report(server.name, server.url)
                    unready.remove(server)
            self._check()
            if unready and time.monotonic() > deadline:
                unready[0].wait_until_ready(0)
            time.sleep(0.02)

    def wait(self, check: Callable[[], None]) -> None:
        """Wait until a server ends by itself, and then raise Failure; `check` is called every 0.2 s and may raise."""
        while True:
            check()
            self._check()
            time.sleep(0.2)

    def _check(self) -> None:
        if self._broker is not None and not self._broker.is_running:
            raise Failure(f"the broker ended by itself; its log is {self._broker.log}")
        for server in self._servers:
            server.check()

    def stop(self) -> None:
        """Stop the HTTP servers in parallel, then the broker, which they may still need."""
        for server in self._servers:
            server.terminate()
        for server in self._servers:
            server.stop()
        if self._broker is not None:
            self._broker.stop()
        if self._ephemeral:
            shutil.rmtree(self._folder, ignore_errors=True)


def _make_folder(options: argparse.Namespace) -> Path:
    if options.ephemeral:
        return process.temporary_folder("magicbyte-up-")
    folder: Path = (options.data_dir or data_folder()).expanduser().absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Failure(f"the data folder {folder} cannot be made: {error.strerror}") from error
    if not os.access(folder, os.W_OK):
        raise Failure(f"the data folder {folder} cannot be written to")
    if options.secure:
        # An earlier start without --secure may have left files in it that all may read.
        folder.chmod(0o700)
    return folder


def _secure(folder: Path, options: argparse.Namespace) -> Secured:
    """Return the files that secure the servers: those of an earlier start, or new ones."""
    # Its dependencies take long to import.
    from magicbyte.security.first_try import point_clients, secure, secured  # noqa: PLC0415

    files = secured(folder / "secure")
    if files.clients.exists():
        point_clients(files, options.registry_port)
        return files
    return secure(folder / "secure", registry_port=options.registry_port, rest_port=options.rest_port)


def _close_broker(files: Secured) -> tuple[Mapping[str, str], Path, tuple[Path, Path]]:
    """Let the broker serve only clients with a password, which is made at the first start.

    Returns:
        The broker's settings; the file with those of Kafka clients; the files of the registry's and the proxy's
        settings with those of their Kafka clients added.
    """
    kafka_client = files.ca.with_name("kafka-client.properties")
    jaas = read_properties_file(kafka_client).get("sasl.jaas.config", "") if kafka_client.exists() else ""
    made = re.search(r'password="([\w-]+)"', jaas)
    password = made[1] if made else secrets.token_urlsafe(24)
    client = client_sign_in(password)
    write_whole(kafka_client, properties_text(client).encode())
    configs = []
    for path, prefix in ((files.registry, "kafkastore."), (files.rest_proxy, "client.")):
        # Written at each start from the file that the user may edit.
        whole = path.with_name(f"up-{path.name}")
        added = properties_text({prefix + name: value for name, value in client.items()})
        write_whole(whole, path.read_bytes() + added.encode())
        configs.append(whole)
    return broker_sign_in(password), kafka_client, (configs[0], configs[1])


def _check_kafka(bootstrap_servers: str) -> None:
    """Raise Failure if none of the brokers accepts a connection."""
    reasons = []
    for address in bootstrap_servers.split(","):
        host, _, port = address.strip().rpartition(":")
        try:
            socket.create_connection((host.rpartition("://")[2].strip("[]"), int(port)), timeout=5).close()
        except ValueError:
            raise Failure(f"--bootstrap-servers {address.strip()}: write HOST:PORT") from None
        except OSError as error:
            reasons.append(f"{address.strip()}: {error.strerror or error}")
        else:
            return
    raise Failure(f"no Kafka broker answers ({'; '.join(reasons)})")


def _report(name: str, *words: str) -> None:
    try:
        sys.stdout.write(f"{name:<11} {' '.join(words).strip()}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of the output is gone, as after `| head -1`; continue without output.
        sys.stdout = io.StringIO()
