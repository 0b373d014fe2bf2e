"""`magicbyte rest-proxy`: the Kafka REST proxy, in the foreground."""

from __future__ import annotations

from collections.abc import Sequence

from magicbyte.cli.flags import add_bootstrap_servers, add_schema_registry_url
from magicbyte.cli.servers import common as servers
from magicbyte.kit.command_line import CommandParser
from magicbyte.kit.failure import Failure


def main(arguments: Sequence[str]) -> int:
    """Serve until Ctrl-C or SIGTERM and return the exit code."""
    parser = CommandParser(
        prog="magicbyte rest-proxy",
        description=__doc__,
        examples=(
            "magicbyte rest-proxy --bootstrap-servers localhost:9092 --schema-registry-url http://localhost:8081",
        ),
    )
    add_bootstrap_servers(parser, default=None, help_text="the Kafka cluster")
    add_schema_registry_url(parser, "the schema registry")
    servers.add_server_options(parser, port=8082)
    options = parser.parse_args(arguments)
    properties = servers.gather_properties(
        options,
        environment_prefix="KAFKA_REST_",
        named={
            "listeners": servers.listeners(options.listen),
            "bootstrap.servers": options.bootstrap_servers,
            "schema.registry.url": options.schema_registry_url,
        },
    )
    if not properties.get("bootstrap.servers"):
        raise Failure("say which Kafka cluster it is for: --bootstrap-servers HOST:PORT")
    return servers.run("rest_proxy", properties, start_when_closed=options.start_when_closed)
