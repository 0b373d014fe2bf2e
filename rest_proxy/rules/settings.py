"""The proxy's settings of rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Literal

from pydantic import Field

from magicbyte.kit.settings import SettingsError
from magicbyte.kit.settings.property_words import Takes
from magicbyte.kit.settings.server import Milliseconds, ServerSettings
from serdes.error import ConfigError
from serdes.rules.settings import RuleSection, RuleSettings, executor_settings, split_settings

#: Sends a dead letter and returns when it is stored: topic, key, value, headers.
SendLetter = Callable[[str, bytes | None, bytes | None, list[tuple[str, bytes | None]]], None]


class RuleProperties(ServerSettings):
    """The properties of rules, as serializers have them."""

    title = "Rules of schemas"

    execution_environment: Literal["GATEWAY", "CLIENT", "NONE"] = Field(
        "GATEWAY",
        alias="execution.environment",
        description="Where this process runs: rule sets that are enabled elsewhere are skipped; NONE skips all.",
    )
    rules_show_values: bool = Field(
        False,
        alias="magicbyte.rules.show.values",
        description="Whether the error of a rule shows the value that the rule rejects.",
    )
    dlq_topic: str = Field(
        "", alias="dlq.topic", description="The topic of the action DLQ, for rules and schemas that name none."
    )
    dlq_redact_rule_types: Annotated[str, Takes("types of rules, with commas between")] = Field(
        "ENCRYPT,ENCRYPT_PAYLOAD",
        alias="dlq.redact.rule.types",
        description="Dead letters have no strings and bytes with the tags of rules of these types.",
    )
    validation_execution: Literal["DISABLED", "BEFORE_DOMAIN_RULES", "AFTER_DOMAIN_RULES"] = Field(
        "DISABLED",
        alias="validation.rules.execution",
        description="When the validation rules that stand in schemas are checked.",
    )
    validation_fail_fast: bool = Field(
        False,
        alias="validation.rules.fail.fast",
        description="Whether the first value that breaks a validation rule ends the check.",
    )
    dlq_timeout_ms: Milliseconds = Field(
        30000, alias="dlq.timeout.ms", description="Longest time to store a dead letter.", ge=1
    )

    @classmethod
    def without_effect(cls) -> Mapping[str, str]:
        """Properties of Confluent's clients that have no effect here -> the reason."""
        return {
            **super().without_effect(),
            "dlq.auto.flush": "each dead letter is stored before the record is answered",
            "preserve.source.fields": "rules never change the caller's message",
        }

    def rules(self, properties: Mapping[str, str], send_letter: SendLetter | None = None) -> RuleSettings:
        """The settings of rules.

        Args:
            properties: All properties, of which those of single executors are read.
            send_letter: Sends dead letters; None if there is no producer.

        Raises:
            SettingsError: A property of an executor is unknown or wrong; the text names it.
        """
        try:
            read = executor_settings(split_settings(properties)[0])
        except ConfigError as error:
            raise SettingsError(str(error)) from None
        options = RuleSection(
            environment=self.execution_environment,
            show_values=self.rules_show_values,
            validation=self.validation_execution,
            validation_fail_fast=self.validation_fail_fast,
            dead_letter_topic=self.dlq_topic or None,
            dead_letter_types=self.dlq_redact_rule_types,
            dead_letter_timeout=self.dlq_timeout_ms,
        )
        return read.with_letters_by(send_letter).with_options(options)
