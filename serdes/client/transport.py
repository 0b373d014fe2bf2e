"""The ways to send a flow's requests: httpx, an ASGI app in this process, or `mock://`.

httpx takes a tenth of a second to import, so this module imports it only for the first request.
"""

from __future__ import annotations

import atexit
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any

from serdes.error import ConfigError

if TYPE_CHECKING:
    import ssl

    import httpx

    from magicbyte.security.tls.stores import Identity

#: The group of entry points that return the ASGI app of an in-memory registry for the scope of a `mock://scope` URL.
MOCK_GROUP = "magicbyte.mock_registry"
#: The in-memory registries of this process, by scope; they live as long as the process.
_mocks: dict[str, Any] = {}
_mocks_lock = Lock()


@dataclass(frozen=True, slots=True)
class Tls:
    """The certificates of TLS connections.

    Attributes:
        ca: The file or folder of trusted certificates; None for the system's.
        certificate: The client's own certificate, for mutual TLS.
        key: The certificate's key, if it is in another file.
        key_password: The password of the key.
        verify: Whether the server's certificate is verified.
        check_host: Whether the server's host name must match its certificate.
        ca_text: The trusted certificates in PEM, instead of `ca`.
        identity: The client's key and certificate as values, instead of `certificate`.
    """

    ca: str | None = None
    certificate: str | None = None
    key: str | None = None
    key_password: str | None = field(default=None, repr=False)
    verify: bool = True
    check_host: bool = True
    ca_text: str | None = field(default=None, repr=False)
    identity: Identity | None = field(default=None, repr=False)

    def context(self) -> ssl.SSLContext:
        """The SSL context for these settings.

        Raises:
            ConfigError: a file cannot be read, or contains no certificate or key.
        """
        import ssl  # noqa: PLC0415  # only if TLS is used
        from pathlib import Path  # noqa: PLC0415

        if (self.key or self.key_password) and not self.certificate:
            raise ConfigError("ssl.certificate.location", "needed if a key or its password is given")
        try:
            folder = self.ca is not None and Path(self.ca).is_dir()
            file, path = (None, self.ca) if folder else (self.ca, None)
            context = ssl.create_default_context(cafile=file, capath=path, cadata=self.ca_text)
        except OSError as error:
            raise ConfigError("ssl.ca.location", f"{self.ca}: {error}") from error
        context.check_hostname = self.check_host
        if not self.verify:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        if self.certificate:
            try:
                context.load_cert_chain(self.certificate, self.key, self.key_password)
            except OSError as error:
                raise ConfigError("ssl.certificate.location", f"{self.certificate}: {error}") from error
        if self.identity is not None:
            from magicbyte.security.tls.stores import StoreError, load_identity  # noqa: PLC0415  read from a store

            try:
                load_identity(context, self.identity)
            except StoreError as error:
                raise ConfigError("ssl.keystore.location", str(error)) from error
        return context


@dataclass(frozen=True, slots=True)
class Connection:
    """Options for connecting to the registry.

    Attributes:
        tls: The settings for https URLs.
        proxy: The URL of an HTTP proxy.
        timeout: The limit for connecting, and for waiting for an answer, in seconds.
        transport: An httpx transport instead of the network.
        trust_env: Whether to use the proxies in the environment's variables.
    """

    tls: Tls = Tls()
    proxy: str | None = None
    timeout: float = 30.0
    transport: Any = None
    trust_env: bool = True

    def open(self, urls: tuple[str, ...]) -> httpx.Client:
        """A blocking HTTP client."""
        import httpx  # noqa: PLC0415  # see the module's docstring

        return httpx.Client(**self._options(urls))

    def open_async(self, urls: tuple[str, ...]) -> httpx.AsyncClient:
        """An asynchronous HTTP client."""
        import httpx  # noqa: PLC0415  # see the module's docstring

        return httpx.AsyncClient(**self._options(urls))

    def _options(self, urls: tuple[str, ...]) -> dict[str, Any]:
        transport = self.transport or _mock_transport(urls)
        if transport is not None:
            return {"transport": transport, "timeout": self.timeout}
        return {
            "verify": self._verify(urls),
            "proxy": self.proxy,
            "timeout": self.timeout,
            "trust_env": self.trust_env,
        }

    def _verify(self, urls: tuple[str, ...]) -> ssl.SSLContext:
        if any(url.startswith("https") for url in urls):
            return self.tls.context()
        import ssl  # noqa: PLC0415  # httpx has imported it

        # Loading the system's certificates takes 25 ms; this context, for plain http, trusts none.
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _mock_transport(urls: tuple[str, ...]) -> Any:
    scopes = [url.removeprefix("mock://") for url in urls if url.startswith("mock://")]
    if not scopes:
        return None
    if len(urls) > 1:
        raise ConfigError("url", "a mock:// URL must be the only URL")
    from serdes.client.asgi import AsgiTransport, SharedTransport  # noqa: PLC0415  # imports httpx

    with _mocks_lock:
        transport = _mocks.get(scopes[0])
        if transport is None:
            transport = _mocks[scopes[0]] = AsgiTransport(_mock_app()(scopes[0]))
            atexit.register(transport.abandon)
    return SharedTransport(transport)


def _mock_app() -> Callable[[str], Any]:
    from importlib.metadata import entry_points  # noqa: PLC0415  # takes 10 ms

    for entry_point in entry_points(group=MOCK_GROUP):
        app: Callable[[str], Any] = entry_point.load()
        return app
    raise ConfigError("url", f"mock:// needs a registry in memory: no installed package offers one ({MOCK_GROUP})")
