"""`magicbyte health`: what it asks, how it finds the listener, and its exit codes."""

from __future__ import annotations

import http.server
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from magicbyte.cli.main import main
from magicbyte.cli.servers import health
from magicbyte.cli.servers.configured import command_in
from magicbyte.platform.server_process import ServerProcess
from magicbyte.security.tls.authority import Authority
from magicbyte.testing import running_registry, running_rest_proxy

Said = Callable[..., tuple[int, str]]


@pytest.fixture(scope="module")
def registry() -> Iterator[ServerProcess]:
    with running_registry("memory:") as server:
        yield server


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Said:
    """Runs the command with variables, and perhaps as if in a container whose first process is given."""

    def run(*arguments: str, first: str = "", **variables: str) -> tuple[int, str]:
        monkeypatch.setattr(health, "first_process", first.split)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        code = main(["health", *arguments])
        streams = capsys.readouterr()
        return code, streams.out + streams.err

    return run


def test_the_check_takes_the_listener_from_the_first_process_or_the_variables(
    registry: ServerProcess, said: Said, tmp_path: Path
) -> None:
    port = registry.url.rpartition(":")[2]
    alive = (0, f'http://127.0.0.1:{port}/health/live: 200 {{"status":"UP"}}\n')
    file = tmp_path / "a.properties"
    file.write_text(f"listeners=https://0.0.0.0:1,http://0.0.0.0:{port}\n")
    by_variable = tmp_path / "b.properties"
    by_variable.write_text("listeners=http://${env:ADDRESS}\n")
    program = "/venv/bin/python /venv/bin/magicbyte"
    assert said("--url", registry.url) == alive
    assert said("--url", f"{registry.url}/") == alive
    assert said("--url", f"127.0.0.1:{port}") == alive
    assert said("--url", f"127.0.0.1:{port}/health/live") == alive
    code, text = said("--url", f"{registry.url}/_health")
    assert (code, text.startswith(f"http://127.0.0.1:{port}/_health: 200 {{")) == (0, True)
    assert said(first=f"{program} registry --storage memory: --port {port}") == alive
    assert said(first=f"/sbin/docker-init -- {program} registry --listen=127.0.0.1:{port}") == alive
    assert said(first=f"{program} registry --config {file}") == alive
    assert said("registry", "--config", str(file)) == alive
    assert said("registry", "--config", str(by_variable), ADDRESS=f"127.0.0.1:{port}") == alive
    assert said("registry", SCHEMA_REGISTRY_LISTENERS=f"http://0.0.0.0:{port}") == alive
    assert said("registry", "--config", str(by_variable), ADDRESS="127.0.0.1:1") == alive
    variables = {"SCHEMA_REGISTRY_MAGICBYTE_STORAGE": "memory:", "KAFKA_REST_LISTENERS": "http://0.0.0.0:1"}
    assert said(first=f"{program} serve", **variables) == alive
    assert said("--ready", first=f"{program} serve")[1].startswith(f"http://127.0.0.1:{port}/health/ready: 200 ")


@pytest.mark.parametrize(
    ("arguments", "variables", "code", "told"),
    [
        ((), {}, 2, "magicbyte: no server is configured here: name one, `registry` or `rest-proxy`, or give its --url"),
        (
            (),
            {"SCHEMA_REGISTRY_MAGICBYTE_STORAGE": "memory:", "KAFKA_REST_BOOTSTRAP_SERVERS": "k:9092"},
            2,
            "magicbyte: the variables configure two servers: name one",
        ),
        (("rest-proxy",), {"KAFKA_REST_PORT": "1"}, 3, "http://127.0.0.1:1/health/live does not answer: Connection re"),
        (("--url", "http://127.0.0.1:1"), {}, 3, "http://127.0.0.1:1/health/live does not answer: Connection refused"),
        (("--url", "ftp://x"), {}, 2, "'ftp://x' has an unknown scheme; use http:// or https://"),
        (("--url", "http://x:port"), {}, 2, "Port could not be cast"),
        (("--url", "/tmp"), {}, 2, "--url '/tmp' names no host; write http://HOST:PORT"),
        (("--url", "http://[::1"), {}, 2, "--url http://[::1: Invalid IPv6 URL"),
        (
            ("registry",),
            {"SCHEMA_REGISTRY_LISTENERS": "http://${env:NO_SUCH}"},
            2,
            "cannot be resolved: the variable is",
        ),
        (("registry", "--config", "/no/file"), {}, 2, "--config /no/file cannot be read: No such file or directory"),
    ],
)
def test_an_unusable_target_is_one_line(
    arguments: tuple[str, ...], variables: dict[str, str], code: int, told: str, said: Said
) -> None:
    ended, text = said(*arguments, **variables)
    assert (ended, told in text) == (code, True), text
    assert text.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("--url", "http://x", "registry"),
        ("--timeout", "0"),
        ("--timeout", "soon"),
        ("--timeout", "nan"),
        ("--timeout", "inf"),
        ("ui",),
    ],
)
def test_wrong_usage_is_refused(arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["health", *arguments])
    assert ended.value.code == 2
    assert "usage: magicbyte health" in capsys.readouterr().err


def test_a_server_that_is_not_ready_is_unhealthy_and_alive(said: Said) -> None:
    with running_rest_proxy("127.0.0.1:1", "") as proxy:
        assert said("--url", proxy.url)[0] == 0
        code, text = said("--url", proxy.url, "--ready", "--timeout", "30")
    assert (code, "503" in text, "no broker answers" in text) == (1, True, True)


def test_the_check_reports_an_unserved_path(said: Said) -> None:
    with running_rest_proxy("127.0.0.1:1", "", properties={"api.endpoints.blocklist": "api.health.live"}) as proxy:
        code, text = said("--url", proxy.url)
    assert (code, "does not serve this path (api.endpoints.allowlist)" in text) == (2, True), text


@pytest.mark.parametrize("version", ["TLSv1.2", "TLSv1.3"])
def test_tls_and_a_demanded_certificate(said: Said, tmp_path: Path, version: str) -> None:
    authority = Authority()
    (tmp_path / "ca.pem").write_bytes(authority.pem)
    authority.server("registry.example.com").write(tmp_path / "server.pem")
    context = ssl.create_default_context(cafile=tmp_path / "ca.pem")
    context.check_hostname = False
    context.load_cert_chain(authority.client("tester").write(tmp_path / "client.pem"))
    properties = {
        "ssl.keystore.location": f"{tmp_path}/server.pem",
        "ssl.truststore.location": f"{tmp_path}/ca.pem",
        "ssl.client.authentication": "REQUIRED",
        "ssl.enabled.protocols": version,
    }
    file = tmp_path / "registry.properties"
    with running_registry("memory:", properties=properties, tls=context) as server:
        file.write_text("".join(f"{name}={value}\n" for name, value in {**properties, "listeners": server.url}.items()))
        alive = said("registry", "--config", str(file))
        ready = said("registry", "--config", str(file), "--ready")
        unknown = said("--url", server.url)
        plain = said("--url", server.url.replace("https", "http"))
    assert alive == (0, f"{server.url}/health/live: alive; it answers only clients with a certificate\n")
    assert (unknown[0], "ended the connection: " in unknown[1]) == (3, True)
    assert plain[0] == 3
    assert ready[0] == 1
    assert "add a listener for this machine, such as http://127.0.0.1:8091" in ready[1]


def test_the_check_asks_a_secured_registry_without_credentials(secured: object, said: Said) -> None:
    url = secured.url  # type: ignore[attr-defined]
    assert said("--url", url) == (0, f'{url}/health/live: 200 {{"status":"UP"}}\n')
    assert said("--url", url, "--ready") == (0, f'{url}/health/ready: 200 {{"status":"UP"}}\n')


def test_the_check_stops_waiting_for_a_hanging_server(said: Said) -> None:
    asked = threading.Event()

    class Hanging(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.wait()

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hanging) as server:
        threading.Thread(target=server.serve_forever).start()
        url = f"http://127.0.0.1:{server.server_port}"
        assert said("--url", url, "--timeout", "0.2") == (
            3,
            f"magicbyte: {url}/health/live did not answer in 0.2 s\n",
        )
        asked.set()
        server.shutdown()


@contextmanager
def _answering(*parts: bytes, seconds: float = 0) -> Iterator[str]:
    """Another program, which sends parts of an answer and then closes the connection; the URL.

    The time is that before each part, unless the other side has gone.
    """
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            connection, _ = listening.accept()
            with connection, suppress(OSError):
                connection.recv(4096)
                for part in parts:
                    connection.settimeout(seconds)
                    with suppress(TimeoutError):
                        if seconds and not connection.recv(1):
                            return
                    connection.settimeout(None)
                    connection.sendall(part)

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        thread.join()


@pytest.mark.parametrize(
    ("answer", "code", "told"),
    [
        ("302 Found\r\nLocation: /login\r\n", 1, "302 "),
        ("200 OK\r\n\r\n<html>", 1, "200, but another program answers there: <html>"),
        ("503 Unavailable\r\n\r\n\x1b[31mred\r\nline", 1, "503 \\x1b[31mred\\r\\nline"),
    ],
)
def test_an_answer_of_another_program_is_not_healthy(answer: str, code: int, told: str, said: Said) -> None:
    with _answering(f"HTTP/1.1 {answer}\r\n".encode()) as url:
        assert said("--url", url) == (code, f"{url}/health/live: {told}\n")


def test_the_check_stops_waiting_for_a_slowly_sending_server(said: Said) -> None:
    with _answering(b"HTTP/1.1 200 OK\r\n", *[b"A: b\r\n"] * 40, seconds=0.1) as url:
        assert said("--url", url, "--timeout", "0.3") == (
            3,
            f"magicbyte: {url}/health/live did not answer in 0.3 s\n",
        )


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("/venv/bin/python /venv/bin/magicbyte registry --port 1", ["registry", "--port", "1"]),
        ("python -P -m magicbyte.cli.main rest-proxy", ["rest-proxy"]),
        ("/sbin/tini -- magicbyte serve", ["serve"]),
        ("magicbyte ui", []),
        ("/usr/lib/systemd/systemd", []),
        ("registry", []),
        ("magicbyte", []),
        ("sh -c registry", []),
    ],
)
def test_the_command_of_the_first_process(line: str, words: list[str]) -> None:
    assert command_in(line.split()) == words


def test_a_health_check_imports_nothing_of_a_server() -> None:
    script = (
        "import sys; from magicbyte.cli.main import main; main(['health', '--url', 'http://127.0.0.1:1']);"
        "print(*{name.partition('.')[0] for name in sys.modules})"
    )
    ran = subprocess.run([sys.executable, "-P", "-c", script], capture_output=True, text=True, check=True)
    heavy = {"asyncio", "fastapi", "httpx", "msgspec", "pydantic", "registry", "rest_proxy", "uvicorn"}
    assert heavy & set(ran.stdout.split()) == set()
