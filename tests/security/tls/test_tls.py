"""TLS of both servers, on real ones: who gets in, and what a reload changes."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import ssl
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from magicbyte.platform.server_process import ServerProcess
from magicbyte.security.tls.authority import Authority, Issued

Trusting = Callable[..., ssl.SSLContext]
Start = Callable[..., ServerProcess]
SECONDS = 30.0
GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end, "in vain"
        time.sleep(0.02)


def connect(server: ServerProcess, context: ssl.SSLContext, session: ssl.SSLSession | None = None) -> ssl.SSLSocket:
    address = urlsplit(server.url)
    raw = socket.create_connection((address.hostname, address.port), timeout=SECONDS)
    try:
        return context.wrap_socket(raw, server_hostname="127.0.0.1", session=session)
    except OSError:
        raw.close()
        raise


def ask(connection: ssl.SSLSocket) -> bytes:
    """The answer to one request, up to its body's end or the connection's."""
    connection.sendall(GET)
    received = b""
    while b"\r\n\r\n" not in received or len(received.partition(b"\r\n\r\n")[2]) < length_of(received):
        part = connection.recv(65536)
        if not part:
            break
        received += part
    return received


def length_of(answer: bytes) -> int:
    lines = answer.lower().partition(b"\r\n\r\n")[0].split(b"\r\n")
    return next((int(line.partition(b":")[2]) for line in lines if line.startswith(b"content-length:")), 0)


def is_refused(server: ServerProcess, context: ssl.SSLContext) -> bool:
    """True if a client gets no answer: the handshake fails, with TLS 1.3 only at the first read."""
    try:
        with connect(server, context) as connection:
            return not ask(connection).startswith(b"HTTP/1.1 200")
    except (ssl.SSLError, ConnectionError):
        return True


def presented(server: ServerProcess, context: ssl.SSLContext) -> bytes:
    with connect(server, context) as connection:
        return connection.getpeercert(binary_form=True) or b""


def der(issued: Issued) -> bytes:
    return issued.certificate.public_bytes(Encoding.DER)


def metrics(server: ServerProcess, context: ssl.SSLContext) -> str:
    return httpx.get(f"{server.url}/metrics", verify=context).text


def wait_for_reloads(server: ServerProcess, context: ssl.SSLContext, count: int, outcome: str = "success") -> None:
    line = f'magicbyte_security_reloads_total{{outcome="{outcome}",what="tls"}} {count}.0'
    wait_for(lambda: line in metrics(server, context))


def test_both_servers_answer_over_tls(start_either: Start, authority: Authority, trusting: Trusting, tmp_path: Path):
    key = authority.server("127.0.0.1").write(tmp_path / "server.pem")
    server = start_either({"ssl.keystore.location": str(key)}, trusting())
    assert httpx.get(server.url, verify=trusting()).status_code == 200
    assert "magicbyte_tls_certificate_expiry_timestamp_seconds" in metrics(server, trusting())
    context = trusting()
    context.set_alpn_protocols(["h2", "http/1.1"])
    with connect(server, context) as connection:
        assert (connection.version(), connection.selected_alpn_protocol()) == ("TLSv1.3", "http/1.1")
    with pytest.raises(ssl.SSLCertVerificationError):
        connect(server, ssl.create_default_context())


def test_plain_http_is_not_answered_on_a_tls_port(
    start_either: Start, authority: Authority, trusting: Trusting, tmp_path: Path
):
    key = authority.server("127.0.0.1").write(tmp_path / "server.pem")
    server = start_either({"ssl.keystore.location": str(key)}, trusting())
    address = urlsplit(server.url)
    with socket.create_connection((address.hostname, address.port), timeout=SECONDS) as raw:
        raw.sendall(GET)
        assert b"HTTP/" not in raw.recv(1024)
    assert httpx.get(server.url, verify=trusting()).status_code == 200


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1])
@pytest.mark.filterwarnings("ignore:ssl.TLSVersion:DeprecationWarning")
def test_old_versions_are_refused(
    start_registry: Start, authority: Authority, trusting: Trusting, tmp_path: Path, version: ssl.TLSVersion
):
    key = authority.server("127.0.0.1").write(tmp_path / "server.pem")
    server = start_registry({"ssl.keystore.location": str(key)}, trusting())
    old = trusting()
    old.set_ciphers("ALL:@SECLEVEL=0")
    old.minimum_version = old.maximum_version = version
    assert is_refused(server, old)


def test_weak_ciphers_are_refused(start_registry: Start, authority: Authority, trusting: Trusting, tmp_path: Path):
    key = authority.server("127.0.0.1").write(tmp_path / "server.pem")
    server = start_registry({"ssl.keystore.location": str(key), "ssl.enabled.protocols": "TLSv1.2"}, trusting())
    weak = trusting()
    weak.maximum_version = ssl.TLSVersion.TLSv1_2
    weak.set_ciphers("ECDHE-ECDSA-AES128-SHA256:ECDHE-ECDSA-AES256-SHA")
    assert is_refused(server, weak)
    with connect(server, trusting()) as connection:
        assert connection.version() == "TLSv1.2"


def mutual(authority: Authority, folder: Path, demand: str = "REQUIRED") -> dict[str, str]:
    trust = folder / "trust.pem"
    trust.write_bytes(authority.pem)
    return {
        "ssl.keystore.location": str(authority.server("127.0.0.1").write(folder / "server.pem")),
        "ssl.truststore.location": str(trust),
        "ssl.client.authentication": demand,
    }


def test_only_clients_with_a_good_certificate_get_in(
    start_either: Start, authority: Authority, trusting: Trusting, tmp_path: Path
):
    other, past = Authority("other"), timedelta(days=-1)
    good = trusting(authority.client("alice"))
    server = start_either(mutual(authority, tmp_path), good)
    assert httpx.get(server.url, verify=good).status_code == 200
    assert is_refused(server, trusting())
    assert is_refused(server, trusting(other.client("alice")))
    assert is_refused(server, trusting(authority.client("alice", lifetime=past)))
    # Meant for a server alone.
    assert is_refused(server, trusting(only_for_servers(authority)))


def only_for_servers(authority: Authority) -> Issued:
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "alice")])
    return authority._issue(subject, (), (ExtendedKeyUsageOID.SERVER_AUTH,), timedelta(days=1))


def test_a_requested_certificate_may_be_missing_but_not_bad(
    start_registry: Start, authority: Authority, trusting: Trusting, tmp_path: Path
):
    server = start_registry(mutual(authority, tmp_path, "requested"), trusting())
    assert not is_refused(server, trusting())
    assert not is_refused(server, trusting(authority.client("alice")))
    assert is_refused(server, trusting(Authority("other").client("alice")))


def test_the_server_refuses_revoked_certificates_and_all_under_an_outdated_list(
    start_registry: Start, authority: Authority, trusting: Trusting, tmp_path: Path
):
    alice, bob = authority.client("alice"), authority.client("bob")
    crl = tmp_path / "revoked.pem"
    crl.write_bytes(authority.revocation_list(bob).public_bytes(Encoding.PEM))
    properties = {**mutual(authority, tmp_path), "magicbyte.ssl.crl.location": str(crl)}
    server = start_registry(properties, trusting(alice))
    assert not is_refused(server, trusting(alice))
    assert is_refused(server, trusting(bob))
    crl.write_bytes(authority.revocation_list(bob, lifetime=timedelta(days=-1)).public_bytes(Encoding.PEM))
    os.kill(server.pid or 0, signal.SIGHUP)
    wait_for(lambda: is_refused(server, trusting(alice)))


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_client_whose_authority_was_withdrawn_can_not_resume(
    start_registry: Start, authority: Authority, trusting: Trusting, tmp_path: Path, version: ssl.TLSVersion
):
    admitted = Authority("admitted later")
    bob = trusting(admitted.client("bob"))
    server = start_registry(mutual(authority, tmp_path), trusting(authority.client("alice")))
    old = trusting(authority.client("alice"))
    old.minimum_version = old.maximum_version = version
    with connect(server, old) as before:
        assert ask(before).startswith(b"HTTP/1.1 200")
        session = before.session
        (tmp_path / "trust.pem").write_bytes(admitted.pem)
        os.kill(server.pid or 0, signal.SIGHUP)
        wait_for(lambda: not is_refused(server, bob))
        # A connection that was open is served once more, and closed.
        assert b"connection: close" in ask(before)
    try:
        with connect(server, old, session) as again:
            assert not again.session_reused
            answer = ask(again)
    except (ssl.SSLError, ConnectionError):
        answer = b""
    assert answer == b""


def test_twenty_reloads_under_load_refuse_no_connection(
    start_either: Start, authority: Authority, trusting: Trusting, tmp_path: Path
):
    key = tmp_path / "server.pem"
    authority.server("127.0.0.1").write(key)
    server = start_either({"ssl.keystore.location": str(key)}, trusting())
    done, failures, connects = threading.Event(), [], [0, 0, 0]

    def load(index: int) -> None:
        context = trusting()
        while not done.is_set():
            try:
                with connect(server, context) as connection:
                    if not ask(connection).startswith(b"HTTP/1.1 200"):
                        failures.append("no answer")
                connects[index] += 1
            except OSError as error:
                failures.append(repr(error))

    clients = [threading.Thread(target=load, args=(index,)) for index in range(len(connects))]
    for client in clients:
        client.start()
    try:
        for _ in range(20):
            issued = authority.server("127.0.0.1")
            issued.write(key)
            os.kill(server.pid or 0, signal.SIGHUP)
            wait_for(lambda issued=issued: presented(server, trusting()) == der(issued))
    finally:
        done.set()
        for client in clients:
            client.join()
    assert failures == []
    assert min(connects) > 0
    assert 'what="tls"' in metrics(server, trusting())


@pytest.mark.slow
def test_files_that_change_are_taken_without_a_signal_if_they_fit(
    start_registry: Start, authority: Authority, trusting: Trusting, tmp_path: Path
):
    # As Kubernetes does it: a link to a link, which is replaced.
    first, second = tmp_path / "1", tmp_path / "2"
    for folder in (first, second):
        folder.mkdir()
    issued = authority.server("127.0.0.1")
    (first / "tls.crt").write_bytes(issued.certificate_pem)
    (first / "tls.key").write_bytes(issued.key_pem)
    current = tmp_path / "current"
    current.symlink_to(first)
    properties = {
        "ssl.certificate.location": str(current / "tls.crt"),
        "ssl.key.location": str(current / "tls.key"),
    }
    server = start_registry(properties, trusting())
    assert presented(server, trusting()) == der(issued)
    # A key of another certificate: refused, and what was there stays.
    (first / "tls.key").write_bytes(authority.server("127.0.0.1").key_pem)
    wait_for_reloads(server, trusting(), 1, "failure")
    assert presented(server, trusting()) == der(issued)
    renewed = authority.server("127.0.0.1")
    (second / "tls.crt").write_bytes(renewed.certificate_pem)
    (second / "tls.key").write_bytes(renewed.key_pem)
    link = tmp_path / "next"
    link.symlink_to(second)
    link.replace(current)
    wait_for_reloads(server, trusting(), 1)
    assert presented(server, trusting()) == der(renewed)


@pytest.mark.slow
def test_a_silent_client_holds_no_handshake_open_at_the_stop(
    start_registry: Start, authority: Authority, trusting: Trusting, tmp_path: Path
):
    key = authority.server("127.0.0.1").write(tmp_path / "server.pem")
    server = start_registry({"ssl.keystore.location": str(key)}, trusting())
    address = urlsplit(server.url)
    with socket.create_connection((address.hostname, address.port), timeout=SECONDS) as silent:
        kept = http.client.HTTPSConnection("127.0.0.1", address.port, context=trusting())
        kept.request("GET", "/")
        assert kept.getresponse().status == 200
        server.terminate()
        assert server.wait(SECONDS) == 0
        assert silent.recv(1) == b""
        kept.close()
