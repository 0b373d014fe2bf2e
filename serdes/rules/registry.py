"""Custom executors, actions and overrides, as in confluent-kafka."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import Any


@dataclass(frozen=True)
class RuleOverride:
    """The override of the actions of all rules of a type, or of whether they run; None leaves the rule's own."""

    type: str
    on_success: str | None = None
    on_failure: str | None = None
    disabled: bool | None = None


class RuleRegistry:
    """Executors, actions and overrides by rule or action type; safe to share between threads.

    Serializers look here before they take an executor or action of this library.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._executors: dict[str, Any] = {}
        self._actions: dict[str, Any] = {}
        self._overrides: dict[str, RuleOverride] = {}

    def register_executor(self, rule_executor: Any) -> None:
        """Adds an executor; it replaces the one of its type."""
        with self._lock:
            self._executors[_type_of(rule_executor)] = rule_executor

    def get_executor(self, name: str) -> Any:
        """The executor of a type, or None."""
        with self._lock:
            return self._executors.get(name.upper())

    def get_executors(self) -> list[Any]:
        """All executors."""
        with self._lock:
            return list(self._executors.values())

    def register_action(self, rule_action: Any) -> None:
        """Adds an action; it replaces the one of its type."""
        with self._lock:
            self._actions[_type_of(rule_action)] = rule_action

    def get_action(self, name: str) -> Any:
        """The action of a name, or None."""
        with self._lock:
            return self._actions.get(name.upper())

    def get_actions(self) -> list[Any]:
        """All actions."""
        with self._lock:
            return list(self._actions.values())

    def register_override(self, rule_override: RuleOverride) -> None:
        """Adds an override; it replaces the one of its type."""
        with self._lock:
            self._overrides[rule_override.type.upper()] = rule_override

    def get_override(self, name: str) -> RuleOverride | None:
        """The override of a type, or None."""
        with self._lock:
            return self._overrides.get(name.upper())

    def get_overrides(self) -> list[RuleOverride]:
        """All overrides."""
        with self._lock:
            return list(self._overrides.values())

    def clear(self) -> None:
        """Removes everything."""
        with self._lock:
            self._executors.clear()
            self._actions.clear()
            self._overrides.clear()

    @staticmethod
    def get_global_instance() -> RuleRegistry:
        """The registry of serializers that are given none."""
        return _GLOBAL

    @staticmethod
    def register_rule_executor(rule_executor: Any) -> None:
        """Adds an executor to the global registry."""
        _GLOBAL.register_executor(rule_executor)

    @staticmethod
    def register_rule_action(rule_action: Any) -> None:
        """Adds an action to the global registry."""
        _GLOBAL.register_action(rule_action)

    @staticmethod
    def register_rule_override(rule_override: RuleOverride) -> None:
        """Adds an override to the global registry."""
        _GLOBAL.register_override(rule_override)


_GLOBAL = RuleRegistry()


def _type_of(extension: Any) -> str:
    """The type of an executor or action, in upper case: an attribute, or a method as in confluent-kafka."""
    type_name = extension.type() if callable(extension.type) else extension.type
    return str(type_name).upper()
