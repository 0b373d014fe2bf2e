"""Subject names: the subject under which a message's schema is registered and looked up."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from compat.schema import Reference
from magicbyte.kit.settings import patterns
from magicbyte.kit.settings.kinds import ProblemError, text
from magicbyte.kit.settings.patterns import java_classes
from magicbyte.kit.settings.place import did_you_mean, nearest
from magicbyte.kit.settings.section import Section, setting, settings_of
from serdes.client.endpoints.cached import Endpoints
from serdes.client.flow import Flow
from serdes.error import RegistryError, SerializationError
from serdes.serialization import Context
from serdes.setting_kinds import ANY, pairs, read_settings

#: Takes a context and a record's full name, which may both be None; returns the subject's name.
Strategy = Callable[[Context | None, str | None], str | None]
#: Takes a context and a reference with only its name set; returns the subject's name.
ReferenceStrategy = Callable[[Context | None, Reference], str]


def topic_subject_name_strategy(ctx: Context | None, record_name: str | None) -> str | None:  # noqa: ARG001
    """`{topic}-key` or `{topic}-value`."""
    if ctx is None:
        raise SerializationError("the topic subject name strategy needs a SerializationContext")
    return f"{ctx.topic}-{ctx.field}"


def record_subject_name_strategy(ctx: Context | None, record_name: str | None) -> str | None:  # noqa: ARG001
    """The record's full name."""
    return record_name


def topic_record_subject_name_strategy(ctx: Context | None, record_name: str | None) -> str | None:
    """`{topic}-{full name of the record}`."""
    if ctx is None:
        raise SerializationError("the topic-record subject name strategy needs a SerializationContext")
    return None if record_name is None else f"{ctx.topic}-{record_name}"


def reference_subject_name_strategy(ctx: Context | None, schema_ref: Reference) -> str:  # noqa: ARG001
    """The reference's name: for Protobuf the import's path."""
    return schema_ref.name


def qualified_reference_subject_name_strategy(ctx: Context | None, schema_ref: Reference) -> str:  # noqa: ARG001
    """The reference's name with dots for slashes and without `.proto`."""
    return schema_ref.name.removesuffix(".proto").replace("/", ".")


#: Strategies by the name of Java's class and by confluent-kafka's `subject.name.strategy.type`.
STRATEGIES: Mapping[str, Strategy] = {
    "TopicNameStrategy": topic_subject_name_strategy,
    "TOPIC": topic_subject_name_strategy,
    "RecordNameStrategy": record_subject_name_strategy,
    "RECORD": record_subject_name_strategy,
    "TopicRecordNameStrategy": topic_record_subject_name_strategy,
    "TOPIC_RECORD": topic_record_subject_name_strategy,
}
ASSOCIATED = frozenset({"AssociatedNameStrategy", "ASSOCIATED"})
NO_FALLBACK = "NONE"
_ASSOCIATED = "ASSOCIATED"
_NAMES = (*STRATEGIES, *sorted(ASSOCIATED))
_FALLBACK = "subject.name.strategy.fallback.type"
_CLUSTER = "subject.name.strategy.kafka.cluster.id"
_OPTIONS = (_FALLBACK, _CLUSTER)


def _strategy(value: Any) -> Strategy | str:
    """A strategy, or ASSOCIATED, which asks the registry."""
    if callable(value):
        function: Strategy = value
        return function
    short = _word(value).rpartition(".")[2]
    # confluent-kafka's words may be in lower case.
    short = short if short in _NAMES else short.upper()
    if short not in _NAMES:
        expected = f"must be a function or one of {', '.join(_NAMES)}"
        raise ProblemError(f"{expected}, not {value!r}{nearest(short, _NAMES)}")
    return _ASSOCIATED if short in ASSOCIATED else STRATEGIES[short]


def _fallback(value: Any) -> Strategy | None:
    if _word(value).upper() == NO_FALLBACK:
        return None
    fallback = _strategy(_word(value))
    if isinstance(fallback, str):
        words = ", ".join(filter(str.isupper, STRATEGIES))
        raise ProblemError(f"must be one of {words} or {NO_FALLBACK}; {value} is the strategy that falls back")
    return fallback


def _context(value: Any) -> Any:
    if isinstance(value, str) or callable(value):
        return value
    raise ProblemError(f"must be a context's name or a function of the topic, not {value!r}")


def _options(value: Any) -> Mapping[str, Any]:
    options = pairs().convert(value) if isinstance(value, str) else dict(value)
    if unknown := sorted(options.keys() - _OPTIONS):
        near = did_you_mean(unknown[0], _OPTIONS)
        raise ProblemError(f"has the unknown setting {unknown[0]}{near}")
    return options


def _word(value: Any) -> str:
    """A word, which may be a member of confluent-kafka's enumeration."""
    return str(getattr(value, "value", value))


_STRATEGY = replace(
    ANY,
    label=f"{' or '.join(_NAMES)}, or a function",
    schema=java_classes(_NAMES, patterns.words(*filter(str.isupper, _NAMES))),
    convert=_strategy,
)


class SubjectRows(Section):
    """Settings for the names of subjects."""

    common: Any = setting(
        _STRATEGY,
        "The strategy, by the name of Java's class or by confluent-kafka's word. The associated one asks the registry"
        " for the subject of the topic.",
        "subject.name.strategy",
        default=None,
        default_words="`ASSOCIATED`",
    )
    common_type: Any = setting(
        replace(_STRATEGY, label="the same"),
        "Another name of `subject.name.strategy`.",
        "subject.name.strategy.type",
        default=None,
    )
    key: Any = setting(
        replace(_STRATEGY, label="the same"), "The strategy for keys.", "key.subject.name.strategy", default=None
    )
    value: Any = setting(
        replace(_STRATEGY, label="the same"), "The strategy for values.", "value.subject.name.strategy", default=None
    )
    fallback: Strategy | None = setting(
        replace(
            ANY,
            label=" or ".join((*STRATEGIES, NO_FALLBACK)),
            schema=java_classes(
                (*STRATEGIES, NO_FALLBACK), patterns.words(*filter(str.isupper, STRATEGIES), NO_FALLBACK)
            ),
            convert=_fallback,
        ),
        "The strategy of topics without an associated subject; `NONE` makes them an error.",
        _FALLBACK,
        default=topic_subject_name_strategy,
        default_words="`TOPIC`",
    )
    cluster: str = setting(
        text(),
        "The Kafka cluster's id, the namespace of associations; `-` means any.",
        _CLUSTER,
        default="-",
    )
    options: Any = setting(
        replace(pairs(), convert=_options),
        "The two settings before, as a mapping.",
        "subject.name.strategy.conf",
        default=None,
    )
    context: Any = setting(
        replace(ANY, label="a text, or a function of the topic", convert=_context),
        "The registry's context of a topic.",
        "context.name.strategy",
        default=None,
    )

    def naming(self) -> Naming:
        """The naming that the settings select."""
        common = self.common_type if self.common is None else self.common
        key, value = (common if strategy is None else strategy for strategy in (self.key, self.value))
        key, value = (None if strategy == _ASSOCIATED else strategy for strategy in (key, value))
        return Naming(key, value, self.fallback, self.cluster, self.context)


SUBJECT_SETTINGS = tuple(row.name for row in settings_of(SubjectRows))

REFERENCE_STRATEGIES: Mapping[str, ReferenceStrategy] = {
    "DefaultReferenceSubjectNameStrategy": reference_subject_name_strategy,
    "QualifiedReferenceSubjectNameStrategy": qualified_reference_subject_name_strategy,
}


@dataclass(frozen=True, slots=True)
class Naming:
    """The strategies that name subjects.

    Attributes:
        key, value: The strategies; None asks the registry for the topic's association and falls back on `fallback`.
        fallback: The strategy for topics without an association; None to raise an error.
        cluster: The Kafka cluster's id, the namespace of associations; `-` means any.
        context: The registry's context for a topic: its name, or a function of the topic.
    """

    key: Strategy | None = None
    value: Strategy | None = None
    fallback: Strategy | None = topic_subject_name_strategy
    cluster: str = "-"
    context: str | Callable[[str], str | None] | None = None

    def subject(self, endpoints: Endpoints, ctx: Context | None, record_name: str | None) -> Flow[str]:
        """The subject of a message.

        Raises:
            SerializationError: the strategy needs a context or a record's name, and there is none.
            RegistryError: the registry answered a query for associations with an error other than 404.
        """
        strategy = self.key if ctx is not None and ctx.field == "key" else self.value
        if strategy is None:
            name = yield from self._associated(endpoints, ctx, record_name)
        else:
            name = strategy(ctx, record_name)
        if not name:
            raise SerializationError(
                "the subject name strategy gives no subject: it needs a schema with a record's name, or a topic"
            )
        return self.in_context(ctx) + name

    def _associated(self, endpoints: Endpoints, ctx: Context | None, record_name: str | None) -> Flow[str | None]:
        if ctx is None:
            raise SerializationError("the associated subject name strategy needs a SerializationContext")
        try:
            matches = yield from endpoints.associations(
                ctx.topic, self.cluster, resource_type="topic", association_types=[str(ctx.field)]
            )
        except RegistryError as error:
            if error.status != 404:
                raise
            import logging  # noqa: PLC0415  # once a topic

            logging.getLogger(__name__).debug(
                "the registry knows no associations: %s",
                error,
                extra={"event": "associations_unknown", "error": str(error)},
            )
            matches = []
        if len(matches) > 1:
            raise SerializationError(f"topic {ctx.topic} has {len(matches)} associated subjects for its {ctx.field}")
        if matches:
            return str(matches[0]["subject"])
        if self.fallback is None:
            raise SerializationError(f"topic {ctx.topic} has no associated subject for its {ctx.field}")
        return self.fallback(ctx, record_name)

    def in_context(self, ctx: Context | None) -> str:
        """The prefix that puts a subject into the topic's context; empty for the default context."""
        if self.context is None:
            return ""
        context = self.context(ctx.topic if ctx is not None else "") if callable(self.context) else self.context
        if not context or context == ".":
            return ""
        return f":{context}:" if context.startswith(".") else f":.{context}:"


def naming(conf: dict[str, Any]) -> Naming:
    """The naming that the settings select; removes these settings from the mapping.

    Raises:
        ConfigError: a setting is wrong.
    """
    given = {name: conf.pop(name) for name in SUBJECT_SETTINGS if name in conf}
    settings = _read(given)
    return (_read({**settings.options, **given}) if settings.options else settings).naming()


def _read(settings: Mapping[str, Any]) -> SubjectRows:
    return read_settings(SubjectRows, settings, "is no setting of subject names", also=())


def reference_strategy(value: Any) -> ReferenceStrategy:
    """A strategy for references' subjects: a function, or the name of one."""
    if callable(value):
        function: ReferenceStrategy = value
        return function
    strategy = REFERENCE_STRATEGIES.get(str(value).rpartition(".")[2])
    if strategy is None:
        expected = f"must be a function or one of {', '.join(REFERENCE_STRATEGIES)}"
        raise ProblemError(f"{expected}, not {value!r}{nearest(str(value), REFERENCE_STRATEGIES)}")
    return strategy
