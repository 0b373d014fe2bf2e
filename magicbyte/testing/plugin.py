"""The pytest plugin: a schema registry, a Kafka broker and a REST proxy for tests, each in its own process.

The processes start when a test first uses them and end with the run. Each test gets them empty: data of earlier tests
is gone, and ids begin at 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from magicbyte.testing.session import KafkaBroker, RestProxy, SchemaRegistry, Session


@pytest.fixture(scope="session")
def schema_registry_properties() -> Mapping[str, str]:
    """Settings of the schema registry under Confluent's names; a conftest.py may override this fixture."""
    return {}


@pytest.fixture(scope="session")
def kafka_broker_properties() -> Mapping[str, str]:
    """Settings of the broker as in server.properties; a conftest.py may override this fixture."""
    return {}


@pytest.fixture(scope="session")
def rest_proxy_properties() -> Mapping[str, str]:
    """Settings of the REST proxy under kafka-rest's names; a conftest.py may override this fixture."""
    return {}


@pytest.fixture(scope="session")
def magicbyte_secure() -> bool:
    """Whether registry and proxy have TLS, sign-in and access rules; a conftest.py may override this fixture."""
    return False


@pytest.fixture(scope="session")
def _magicbyte_session(
    schema_registry_properties: Mapping[str, str],
    kafka_broker_properties: Mapping[str, str],
    rest_proxy_properties: Mapping[str, str],
    magicbyte_secure: bool,  # noqa: FBT001 - pytest gives fixtures by position
) -> Iterator[Session]:
    # Import here: most runs that load the plugin never use a server.
    from magicbyte.testing.session import Session  # noqa: PLC0415

    session = Session(
        schema_registry_properties, kafka_broker_properties, rest_proxy_properties, secure=magicbyte_secure
    )
    try:
        yield session
    finally:
        session.stop()


@pytest.fixture
def _magicbyte_test(request: pytest.FixtureRequest, _magicbyte_session: Session) -> Session:
    """The servers whose fixtures the test uses, started in parallel and emptied."""
    _magicbyte_session.begin(request.fixturenames)
    return _magicbyte_session


@pytest.fixture
def schema_registry(_magicbyte_test: Session) -> SchemaRegistry:
    """A schema registry without schemas; its `url` is for clients."""
    return _magicbyte_test.schema_registry()


@pytest.fixture
def kafka_broker(_magicbyte_test: Session) -> KafkaBroker:
    """A Kafka broker without topics; its `bootstrap_servers` are for clients."""
    return _magicbyte_test.kafka_broker()


@pytest.fixture
def rest_proxy(_magicbyte_test: Session) -> RestProxy:
    """A REST proxy for `kafka_broker` and `schema_registry`, without consumers; its `url` is for clients."""
    return _magicbyte_test.rest_proxy()
