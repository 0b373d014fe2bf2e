"""Rules that Python workers carry out on batches of encoded values, by the plan and the engines of serdes.

Values come in the bytes of their codec, so that rules see the same data as in a deserializer. What rules change goes
back in the same form.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from serdes.rules.context import Message, RuleContext
from serdes.rules.error import RuleError, RuleFailed
from serdes.rules.failures import failed

if TYPE_CHECKING:
    import pyarrow as pa

    from spark_avro.plan.rules.listed import ListedRule

#: The columns of an outcome besides its reason: the bytes after the rules, and what failed.
OUTCOME = "struct<data: binary, rule: string, path: string>"

#: Takes the bytes of a value; returns the new bytes, or None if the value only passed. It raises RuleFailed.
CarryOut = Callable[[bytes], bytes | None]


class Task(Protocol):
    """Rules to carry out; made on the driver and pickled."""

    def prepare(self) -> Callable[..., bytes | None]:
        """The function that carries them out, a CarryOut; called once in each worker's process."""


@dataclass(frozen=True)
class RuleBatch:
    """Carries rules out on batches; see `spark_avro.workers.decoding.Batch`.

    Attributes:
        task: The rules.
    """

    task: Task
    _ready: list[CarryOut] = field(default_factory=list, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        """The state to send to a worker, without compiled functions."""
        return {**self.__dict__, "_ready": []}

    def __call__(self, messages: pa.Array, kind: pa.DataType) -> tuple[pa.Array, pa.Array]:
        """The outcomes as structs of OUTCOME, and the reason of each failure; NULL has neither."""
        import pyarrow as pa  # noqa: PLC0415 - in the workers

        if not self._ready:
            self._ready.append(self.task.prepare())
        carry_out = self._ready[0]
        outcomes: list[dict[str, Any] | None] = []
        reasons: list[str | None] = []
        for message in messages.to_pylist():
            outcome, reason = (None, None) if message is None else _outcome(carry_out, message)
            outcomes.append(outcome)
            reasons.append(reason)
        return pa.array(outcomes, kind), pa.array(reasons, pa.string())


def _outcome(carry_out: CarryOut, message: bytes) -> tuple[dict[str, Any], str | None]:
    try:
        return {"data": carry_out(message)}, None
    except RuleFailed as failure:
        return {"rule": failure.rule, "path": failure.path}, str(failure)


@dataclass(frozen=True)
class AvroRule:
    """One rule on Avro data of a schema.

    Attributes:
        listed: The rule.
        schema: The text of the schema of the data, perhaps only with the fields that the rule needs.
    """

    listed: ListedRule
    schema: str

    def prepare(self) -> CarryOut:
        """The function that carries the rule out on Avro's bytes."""
        from serdes.codec import EncodeError, compile_codec  # noqa: PLC0415 - in the workers

        codec = compile_codec(self.schema)
        context = self.listed.context
        step = prepared_rule(context)

        def carry_out(data: bytes) -> bytes | None:
            datum = data if codec.is_raw else codec.decode(data)
            new = step(datum)
            if new is datum:
                return None
            try:
                return bytes(new) if codec.is_raw else codec.encode(new)
            except (EncodeError, TypeError) as error:
                raise failed(context, RuleError(f"the result does not fit the schema: {error}"), datum) from error

        return carry_out


def prepared_rule(context: RuleContext) -> Callable[[Any], Any]:
    """The function that carries a rule out on a datum, whatever follows the rule; it raises RuleFailed."""
    from serdes.rules.executors import executor_of  # noqa: PLC0415 - in the workers
    from serdes.rules.plan import Step  # noqa: PLC0415 - as above

    compiled = executor_of(context.type, context.settings, context.phase).compile(context.rule, context)
    step = Step(context, compiled, on_success=_go_on, on_failure=_stop)
    message = Message(context.ruled.subject or "", None, is_key=False, headers=None, original=None)
    return lambda datum: step(datum, message)


def _go_on(_: Message, __: Any, ___: Exception | None) -> None:
    """Do nothing after a success, because the plan of the columns decides what follows."""


def _stop(_: Message, __: Any, failure: Exception | None) -> None:
    assert failure is not None
    raise failure
