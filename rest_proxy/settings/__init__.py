"""The REST proxy's settings under kafka-rest's property names."""

from rest_proxy.settings.rest_proxy_settings import FramePlaces, RestProxySettings

__all__ = ["FramePlaces", "RestProxySettings"]
