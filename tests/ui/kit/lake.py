"""Pipelines that run, have failed, are gone or are known by markers alone, behind two pages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from magicbyte.platform.broker import free_port
from magicbyte.testing import running_registry, running_rest_proxy, temporary_broker
from tests.ui.kit.guarded import access_settings, guarded_registry
from tests.ui.kit.pipelines import Running, post, running_pipeline, write_batch

#: Of the REST proxy of the page with access rules; an admin may do everything, and others nothing.
RULES = """\
allow User:reader READ TOPIC LITERAL _magicbyte_pipelines
allow User:reader DESCRIBE CLUSTER LITERAL kafka-cluster
"""


@dataclass(frozen=True, slots=True)
class Lake:
    """Pipelines, and a page for everybody and one with access rules.

    Attributes:
        flights: A pipeline that runs, with state, and a Kafka sink.
        fares: A pipeline whose run has failed.
        url: The page for everybody.
        rest_url: Its REST proxy.
        guarded_url: The page with access rules.
        closed: The URL of a port where nothing listens; the setting says that it is of `gone`.
        folder: A folder for files.
    """

    flights: Running
    fares: Running
    url: str
    rest_url: str
    guarded_url: str
    closed: str
    folder: Path


@contextmanager
def running_lake(folder: Path) -> Iterator[Lake]:
    """Run them.

    Args:
        folder: Where files are written.
    """
    signed = access_settings(folder, "proxy", RULES)
    with ExitStack() as stack:
        servers = stack.enter_context(temporary_broker()).bootstrap_servers
        flights = stack.enter_context(running_pipeline(folder, "flights"))
        fares = stack.enter_context(running_pipeline(folder, "fares"))
        flights.batch(1_204, lag=5_120)
        flights.state()
        fares.batch(88, dead=5)
        fares.fail(ValueError("errors.at-most: 512 of the 600 records \u202e are dead"))
        write_batch(servers, "flights", "flights-out", 1_204)
        write_batch(servers, "gone", "gone-out", 12, query="q2")
        write_batch(servers, "died", "died-out", 7, query="q3")
        post(servers, "flights", 1_204, ("ALTER TABLE t ADD COLUMN a",))
        closed = f"http://127.0.0.1:{free_port()}"
        ports = {"magicbyte.ui.pipelines": f"{flights.url},fares={fares.url},gone={closed}"}
        open_port, guarded_port = free_port(), free_port()
        rest = {"magicbyte.ui.rest.url": f"http://127.0.0.1:{open_port}"}
        registry = stack.enter_context(running_registry("memory:", properties={**ports, **rest}))
        stack.enter_context(running_rest_proxy(servers, registry.url, port=open_port))
        guarded = stack.enter_context(guarded_registry(folder, f"http://127.0.0.1:{guarded_port}", properties=ports))
        stack.enter_context(running_rest_proxy(servers, guarded.url, port=guarded_port, properties=signed))
        yield Lake(flights, fares, registry.url, rest["magicbyte.ui.rest.url"], guarded.url, closed, folder)
