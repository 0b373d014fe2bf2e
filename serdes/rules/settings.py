"""The settings of rules: overrides, parameters of executors, and the environment that decides which rules run."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from magicbyte.kit.settings.section import Section, setting
from serdes.error import ConfigError
from serdes.rules.registry import RuleRegistry
from serdes.setting_kinds import BOOLEAN, INTEGER, TEXT, one_of, typed

_LOG = logging.getLogger(__name__)

CLIENT = "CLIENT"
GATEWAY = "GATEWAY"
NONE = "NONE"

_PREFIX = "rule.executors"
_ACTIONS = "rule.actions"
_DEFAULT = "_default_"
_LETTERS = "DLQ"
_TOPIC = "dlq.topic"
DISABLED = "DISABLED"
BEFORE_DOMAIN_RULES = "BEFORE_DOMAIN_RULES"
AFTER_DOMAIN_RULES = "AFTER_DOMAIN_RULES"
_VALIDATION = one_of(**{name: name.lower() for name in (DISABLED, BEFORE_DOMAIN_RULES, AFTER_DOMAIN_RULES)})
_ENVIRONMENT = one_of(CLIENT="client", GATEWAY="gateway", NONE="none")


class RuleSection(Section):
    """The settings of rules that serializers and deserializers share."""

    environment: str = setting(
        _ENVIRONMENT,
        "Where this process runs: rule sets that are enabled elsewhere are skipped; NONE skips all.",
        "execution.environment",
        default=CLIENT,
    )
    show_values: bool = setting(
        BOOLEAN,
        "Whether the error of a rule shows the value that the rule rejects.",
        "magicbyte.rules.show.values",
        default=False,
    )
    preserve_source: bool = setting(
        BOOLEAN,
        "Accepted as in Java; rules never change the caller's message.",
        "preserve.source.fields",
        default=True,
    )
    validation: str = setting(
        _VALIDATION,
        "When a serializer checks the validation rules that stand in its schema.",
        "validation.rules.execution",
        default=DISABLED,
    )
    validation_fail_fast: bool = setting(
        BOOLEAN,
        "Whether the first value that breaks a validation rule ends the check.",
        "validation.rules.fail.fast",
        default=False,
    )
    dead_letter_topic: str | None = setting(
        TEXT, "The topic of the action DLQ; a rule or its schema may name another one.", "dlq.topic", default=None
    )
    dead_letter_types: str | None = setting(
        TEXT,
        "The types of rules whose fields are redacted in dead letters.",
        "dlq.redact.rule.types",
        default=None,
        default_words="`ENCRYPT,ENCRYPT_PAYLOAD`",
    )
    dead_letter_timeout: int = setting(
        INTEGER, "Maximum number of milliseconds to store a dead letter.", "dlq.timeout.ms", default=30_000
    )
    dead_letter_flush: bool = setting(
        BOOLEAN,
        "Accepted as in Java; each dead letter is stored before its message stops.",
        "dlq.auto.flush",
        default=False,
    )
    bootstrap_servers: str | None = setting(
        TEXT, "The brokers that the action DLQ sends dead letters to.", "bootstrap.servers", default=None
    )


@dataclass(frozen=True, slots=True)
class Override:
    """The parts of rules that the configuration replaces; None leaves the rule's own."""

    on_success: str | None = None
    on_failure: str | None = None
    disabled: bool | None = None


@dataclass(frozen=True, slots=True)
class RuleSettings:
    """The settings of rules in one serializer or deserializer.

    Attributes:
        environment: CLIENT, GATEWAY, or NONE, which skips all rules.
        show_values: Whether errors show values.
        overrides: Overrides by the name of a rule, `_TYPE_` or `_default_`.
        parameter_sets: Parameters of executors by the same names.
        registry: Custom executors, actions and overrides; None for the global ones.
        options: The serializer's other settings of rules, as read.
        redacted: Tags whose strings and bytes are redacted after all rules when messages are read.
    """

    environment: str = CLIENT
    show_values: bool = False
    overrides: Mapping[str, Override] = field(default_factory=dict, hash=False)
    parameter_sets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, hash=False)
    registry: RuleRegistry | None = None
    options: RuleSection | None = None
    redacted: tuple[str, ...] = ()

    @property
    def names_dead_letters(self) -> bool:
        """Whether a setting names a topic of dead letters, whose records have keys."""
        has_topic = self.options is not None and self.options.dead_letter_topic is not None
        return has_topic or any(_TOPIC in parameters for parameters in self.parameter_sets.values())

    @property
    def custom(self) -> RuleRegistry:
        """The registry of custom executors and actions."""
        return RuleRegistry.get_global_instance() if self.registry is None else self.registry

    def override(self, name: str, type_name: str) -> Override:
        """Return the override of a rule's own parts: by its name, else its type, else by default, part by part."""
        registered = self.custom.get_override(type_name)
        overrides = (
            self.overrides.get(name),
            self.overrides.get(f"_{type_name}_"),
            registered,
            self.overrides.get(_DEFAULT),
        )
        parts: dict[str, Any] = {}
        for part in ("on_success", "on_failure", "disabled"):
            values = (getattr(override, part) for override in overrides if override is not None)
            parts[part] = next((value for value in values if value is not None), None)
        return Override(**parts)

    def parameters(self, name: str, type_name: str) -> Mapping[str, Any]:
        """The executor's parameters for a rule: those of its name before those of its type before the default ones."""
        sets = self.parameter_sets
        return {**sets.get(_DEFAULT, {}), **sets.get(f"_{type_name}_", {}), **sets.get(name, {})}

    def with_defaults(self, parameters: Mapping[str, Any]) -> Self:
        """The settings with further default parameters, which do not replace those that are there."""
        defaults = {**parameters, **self.parameter_sets.get(_DEFAULT, {})}
        return replace(self, parameter_sets={**self.parameter_sets, _DEFAULT: defaults})

    def with_letters_by(self, producer: Any) -> Self:
        """The settings with the application's producer of dead letters, unless they name one for the action DLQ.

        Args:
            producer: A confluent_kafka.Producer, or a function that sends a record: topic, key, value, headers.
        """
        letters = f"_{_LETTERS}_"
        sets = {**self.parameter_sets, letters: {"producer": producer, **self.parameter_sets.get(letters, {})}}
        return replace(self, parameter_sets=sets)

    def with_options(self, options: RuleSection) -> Self:
        """The settings with those that are not of single executors."""
        return replace(self, environment=options.environment, show_values=options.show_values, options=options)

    def with_arguments(self, rule_conf: Mapping[str, Any] | None, rule_registry: Any) -> Self:
        """The settings with the arguments of confluent-kafka's serializers: default parameters, and a registry.

        Raises:
            ConfigError: An argument is of the wrong type.
        """
        if rule_conf is not None and not isinstance(rule_conf, Mapping):
            raise ConfigError("rule_conf", f"must be a mapping of parameters, not {type(rule_conf).__name__}")
        if rule_registry is not None and not hasattr(rule_registry, "get_executor"):
            raise ConfigError("rule_registry", f"must be a RuleRegistry, not {type(rule_registry).__name__}")
        defaults = {**self.parameter_sets.get(_DEFAULT, {}), **(rule_conf or {})}
        sets = {**self.parameter_sets, _DEFAULT: defaults}
        return replace(self, parameter_sets=sets, registry=rule_registry or self.registry)


def split_settings(settings: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Divides settings into those of single executors (`rule.executors.*`, `rule.actions.*`) and all others."""
    executors = {name: value for name, value in settings.items() if _is_of_executors(name)}
    return executors, {name: value for name, value in settings.items() if name not in executors}


def executor_settings(executors: Mapping[str, Any]) -> RuleSettings:
    """The settings of single executors and actions.

    Raises:
        ConfigError: A name is unknown, or a value is wrong.
    """
    overrides: dict[str, dict[str, Any]] = {}
    parameters: dict[str, dict[str, Any]] = {}
    for name, value in executors.items():
        prefix = _PREFIX if name.startswith(_PREFIX) else _ACTIONS
        scope, _, part = name.removeprefix(prefix).removeprefix(".").partition(".")
        scope = f"_{scope[1:-1].upper()}_" if _is_type(scope) else scope
        if scope and part.startswith("param.") and part != "param.":
            parameters.setdefault(scope, {})[part.removeprefix("param.")] = value
        elif scope and prefix == _PREFIX and part in _PARTS:
            replacement = typed(BOOLEAN, name, value) if part == "disabled" else _action(name, value)
            overrides.setdefault(scope, {})[_PARTS[part]] = replacement
        elif part == "class":
            _LOG.warning("%s names a Java class and is ignored: register the executor in a RuleRegistry", name)
        elif name not in (_PREFIX, _ACTIONS):  # in Java, lists of the executors or actions
            raise ConfigError(name, f"unknown; expected {prefix}.<rule name, _TYPE_ or _default_>.{_EXPECTED}")
    read = {scope: Override(**parts) for scope, parts in overrides.items()}
    return RuleSettings(overrides=read, parameter_sets=parameters)


_PARTS = {"onSuccess": "on_success", "onFailure": "on_failure", "disabled": "disabled"}
_EXPECTED = "onSuccess, .onFailure, .disabled or .param.<key>"


def _is_of_executors(name: str) -> bool:
    return name in (_PREFIX, _ACTIONS) or name.startswith((f"{_PREFIX}.", f"{_ACTIONS}."))


def _is_type(scope: str) -> bool:
    return len(scope) > len("__") and scope.startswith("_") and scope.endswith("_") and scope != _DEFAULT


def _action(name: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ConfigError(name, "must be the name of an action, such as ERROR, NONE or DLQ")
    return value
