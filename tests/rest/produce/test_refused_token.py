"""Records of a producer that gets no token: the reason comes once, and each batch is answered with it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from magicbyte.platform.broker import free_port
from rest_proxy.produce.producers import Producers
from rest_proxy.settings import RestProxySettings


class Refusing(BaseHTTPRequestHandler):
    """An OAuth server that knows no client."""

    def do_POST(self) -> None:
        body = b'{"error": "invalid_client"}'
        self.send_response(401)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def token_endpoint() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/token"
        server.shutdown()


def test_each_batch_gets_the_reason_for_the_missing_token(token_endpoint: str) -> None:
    module = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
    settings = RestProxySettings.from_properties(
        {
            "bootstrap.servers": f"127.0.0.1:{free_port()}",
            "client.security.protocol": "SASL_PLAINTEXT",
            "client.sasl.mechanism": "OAUTHBEARER",
            "client.sasl.oauthbearer.token.endpoint.url": token_endpoint,
            "client.sasl.jaas.config": f'{module} required clientId="a" clientSecret="wrong";',
        }
    )

    async def run() -> None:
        producers = Producers(settings.producer_config, buffer_memory=1 << 20, max_record_bytes=1 << 16)
        try:
            for _ in range(2):
                batch = producers.send_batch("t", [(None, b"x", -1, 0, None)], "all", "binary")
                async with asyncio.timeout(60):
                    await batch.done
                (outcome,) = batch.outcomes
                assert outcome is not None
                assert outcome[2] == 40101
                assert 'Failed to acquire SASL OAUTHBEARER token: {"error": "invalid_client"}' in str(outcome[3])
        finally:
            await producers.close(0)

    asyncio.run(run())
