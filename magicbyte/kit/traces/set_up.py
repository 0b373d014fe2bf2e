"""Whether a server exports traces, by OpenTelemetry's variables; the extra `otel` is imported only then."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from magicbyte.kit.extras import require
from magicbyte.kit.failure import Failure
from magicbyte.kit.traces.tracing import TRACING

_EXPORTER = "OTEL_TRACES_EXPORTER"
_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_PROTOCOL = "http/protobuf"
_SAMPLER = "OTEL_TRACES_SAMPLER"
_BASIC_SAMPLERS = ("always_on", "always_off", "traceidratio")
_SAMPLERS = (*_BASIC_SAMPLERS, *(f"parentbased_{name}" for name in _BASIC_SAMPLERS))
#: Variables that name files.
_FILES = tuple(
    f"OTEL_EXPORTER_OTLP_{signal}{file}"
    for signal in ("", "TRACES_")
    for file in ("CERTIFICATE", "CLIENT_CERTIFICATE", "CLIENT_KEY")
)


def exporter_named(environment: Mapping[str, str]) -> str | None:
    """`otlp` or `console`; None if the environment asks for no traces.

    Raises:
        Failure: It asks for an exporter or a protocol that we do not have; the text names the variable.
    """
    if environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return None
    name = environment.get(_EXPORTER, "").strip().lower()
    endpoint = next((endpoint for endpoint in _ENDPOINTS if environment.get(endpoint, "").strip()), None)
    if name == "none" or not (name or endpoint):
        return None
    if name not in ("", "otlp", "console"):
        raise Failure(f"{_EXPORTER}: must be otlp or console or none, not {name!r}")
    if name == "console":
        return name
    if endpoint is not None and not environment[endpoint].strip().startswith(("http://", "https://")):
        raise Failure(f"{endpoint}: must be a URL such as http://localhost:4318, not {environment[endpoint]!r}")
    for variable in _PROTOCOLS:
        protocol = environment.get(variable, "").strip().lower()
        if protocol not in ("", _PROTOCOL):
            raise Failure(
                f"{variable}: must be {_PROTOCOL}, not {protocol!r}; collectors listen for it on port 4318, not 4317"
            )
        if protocol:
            break
    return "otlp"


def check_variables(environment: Mapping[str, str]) -> None:
    """Check what OpenTelemetry would replace by a default, or find only when it sends spans.

    Raises:
        Failure: A variable is wrong; the text names it.
    """
    sampler = environment.get(_SAMPLER, "").strip().lower()
    if sampler and sampler not in _SAMPLERS:
        raise Failure(f"{_SAMPLER}: must be one of {', '.join(_SAMPLERS)}, not {sampler!r}")
    ratio = environment.get(f"{_SAMPLER}_ARG", "").strip()
    if ratio and sampler.endswith("traceidratio") and not _is_ratio(ratio):
        raise Failure(f"{_SAMPLER}_ARG: must be a number from 0 to 1, not {ratio!r}")
    for variable in _FILES:
        path = environment.get(variable, "").strip()
        if path and not os.access(path, os.R_OK):
            raise Failure(f"{variable}: {path} cannot be read")


def _is_ratio(text: str) -> bool:
    try:
        return 0 <= float(text) <= 1
    except ValueError:
        return False


@contextmanager
def traces(service: str, node: str) -> Iterator[None]:
    """Export traces in this context if the environment asks for them.

    Args:
        service: The name of the service, unless `OTEL_SERVICE_NAME` names it.
        node: The name of this process among its nodes.

    Raises:
        ExtraMissing: The environment asks for traces, and the extra `otel` is not installed.
        Failure: A variable is wrong.
    """
    name = exporter_named(os.environ)
    if name is None:
        yield
        return
    require("otel", user=f"tracing ({_reason()})")
    # Imported here: it takes half a second and 20 MB, which most servers can do without.
    from magicbyte.kit.traces.exporting import Exporting  # noqa: PLC0415

    check_variables(os.environ)
    try:
        exporting = Exporting(service, node, to_console=name == "console")
    except ValueError as error:
        raise Failure(f"OpenTelemetry refuses the variables OTEL_..: {error}") from error
    TRACING.tracer = exporting.tracer
    try:
        yield
    finally:
        TRACING.tracer = None
        exporting.close()


def _reason() -> str:
    """The variable that asks for traces."""
    return next(variable for variable in (_EXPORTER, *_ENDPOINTS) if os.environ.get(variable, "").strip())
