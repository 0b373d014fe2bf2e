"""A certificate authority, and both servers behind TLS."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from magicbyte.platform.server_process import ServerProcess
from magicbyte.security.tls.authority import Authority, Issued
from magicbyte.testing import running_registry, running_rest_proxy


@pytest.fixture(scope="session")
def authority() -> Authority:
    return Authority()


@pytest.fixture
def ca(authority: Authority, tmp_path: Path) -> Path:
    """The root certificate as a file."""
    path = tmp_path / "ca.pem"
    path.write_bytes(authority.pem)
    return path


@pytest.fixture
def trusting(ca: Path) -> Callable[..., ssl.SSLContext]:
    """Makes a client's context, with a certificate of its own if it is given one."""

    def make(issued: Issued | None = None) -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=ca)
        if issued is not None:
            context.load_cert_chain(issued.write(ca.with_name(f"{issued.certificate.serial_number}.pem")))
        return context

    return make


def a_registry(stack: ExitStack, tls: ssl.SSLContext | None, properties: dict[str, str]) -> ServerProcess:
    return stack.enter_context(running_registry("memory:", properties=properties, tls=tls))


def a_rest_proxy(stack: ExitStack, tls: ssl.SSLContext | None, properties: dict[str, str]) -> ServerProcess:
    return stack.enter_context(running_rest_proxy("127.0.0.1:1", "", properties=properties, tls=tls))


SERVERS = {"registry": a_registry, "rest proxy": a_rest_proxy}


@pytest.fixture(params=SERVERS)
def start_either(request: pytest.FixtureRequest) -> Iterator[Callable[..., ServerProcess]]:
    """Starts a server with properties of its own: in turn each that there is."""
    with ExitStack() as stack:
        yield lambda properties, tls=None: SERVERS[request.param](stack, tls, properties)


@pytest.fixture
def start_registry() -> Iterator[Callable[..., ServerProcess]]:
    with ExitStack() as stack:
        yield lambda properties, tls=None: a_registry(stack, tls, properties)
