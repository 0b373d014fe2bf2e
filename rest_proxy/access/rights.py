"""One principal's rights at the proxy, which itself uses Kafka and the registry under its own name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from magicbyte.kit.errors import ApiError
from magicbyte.security.principal import Principal
from magicbyte.security.rights.authorizer import Authorizer
from rest_proxy.errors import KAFKA_AUTHORIZATION

CLUSTER = "kafka-cluster"
#: Kafka's error texts, by resource type.
_TEXTS = {
    "TOPIC": "Not authorized to access topics: [{name}]",
    "GROUP": "Not authorized to access group: {name}",
    "CLUSTER": "Cluster authorization failed.",
    "TRANSACTIONAL_ID": "Transactional Id authorization failed.",
    "SUBJECT": "User is denied operation {operation} on Subject: {name}",
}


class ProxyRights:
    """One principal's rights, by the rules that are in force when the request arrives.

    All decisions on one request use the same rules. A long-lived response, such as a read that waits for records, calls
    `now` for the current rights.
    """

    def __init__(self, authorizer: Authorizer, principal: Principal, address: str) -> None:
        """Prepare decisions for one principal.

        Args:
            authorizer: The rules.
            principal: The sender.
            address: The sender's address.
        """
        self._authorizer = authorizer
        self._rules = authorizer.rules
        self._principal = principal
        self._address = address

    def now(self) -> ProxyRights:
        """Return the rights by the rules that are in force now."""
        return ProxyRights(self._authorizer, self._principal, self._address)

    def may(self, operation: str, resource_type: str, name: str) -> bool:
        """Tell whether an operation is allowed."""
        return self._rules.decide(self._principal, self._address, operation, resource_type, name).is_allowed

    def may_some(self, operation: str, resource_type: str, names: Sequence[str]) -> bool:
        """Tell whether an operation is allowed on one resource of several, and count it as one decision."""
        rules, principal, address = self._rules, self._principal, self._address
        for name in names:
            decision = rules.decide(principal, address, operation, resource_type, name)
            if decision.is_allowed and not decision.is_dry_run:
                break
        else:
            if not names:
                return False
            name = names[0]
        return self._authorizer.decide_by(rules, principal, address, operation, resource_type, name).is_allowed

    def may_create(self, topic: str) -> bool:
        """Tell whether a topic may be created: with CREATE of the topic or of the cluster."""
        return self.may("CREATE", "TOPIC", topic) or self.may("CREATE", "CLUSTER", CLUSTER)

    def require(self, operations: Sequence[str], resource_type: str, name: str) -> str:
        """Require one of several operations; return the allowed one.

        Raises:
            ApiError: KAFKA_AUTHORIZATION.
        """
        for operation in operations:
            decision = self._authorizer.decide_by(
                self._rules, self._principal, self._address, operation, resource_type, name
            )
            if decision.is_allowed:
                return operation
        raise refused(resource_type, name, operations[0])

    def require_topics(self, operation: str, topics: Iterable[str]) -> None:
        """Require an operation on each topic.

        Raises:
            ApiError: KAFKA_AUTHORIZATION.
        """
        for topic in dict.fromkeys(topics):
            self.require((operation,), "TOPIC", topic)


def refused(resource_type: str, name: str, operation: str) -> ApiError:
    """Return the error for an operation that is not allowed."""
    return KAFKA_AUTHORIZATION(detail=_TEXTS[resource_type].format(name=name, operation=operation.capitalize()))
