"""Settings with which a local broker serves only clients that sign in (SASL PLAIN); for KRaft."""

from __future__ import annotations

from collections.abc import Mapping

_USER = "magicbyte"
_MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule required"


def broker_sign_in(password: str) -> Mapping[str, str]:
    """Return the broker's settings: clients, and the broker at its own controller, sign in with a password.

    Args:
        password: Letters, digits, `-` and `_`.
    """
    login = f'{_MODULE} username="{_USER}" password="{password}" user_{_USER}="{password}";'
    return {
        # The listeners keep their names, which the broker's other settings refer to.
        "listener.security.protocol.map": "PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:SASL_PLAINTEXT",
        "inter.broker.listener.name": "PLAINTEXT",
        "sasl.enabled.mechanisms": "PLAIN",
        "sasl.mechanism.inter.broker.protocol": "PLAIN",
        "sasl.mechanism.controller.protocol": "PLAIN",
        "listener.name.plaintext.plain.sasl.jaas.config": login,
        "listener.name.controller.plain.sasl.jaas.config": login,
    }


def client_sign_in(password: str) -> Mapping[str, str]:
    """Return the settings of a Kafka client of such a broker, under Java's names."""
    return {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": f'{_MODULE} username="{_USER}" password="{password}";',
    }
