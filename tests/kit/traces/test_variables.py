"""OpenTelemetry's variables with wrong values."""

from __future__ import annotations

import pytest

from magicbyte.kit.failure import Failure
from magicbyte.kit.traces.set_up import check_variables, traces


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        ({"OTEL_TRACES_SAMPLER": "sometimes"}, "OTEL_TRACES_SAMPLER: must be one of always_on, always_off, traceid"),
        (
            {"OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": "1.5"},
            "OTEL_TRACES_SAMPLER_ARG: must be a number from 0 to 1, not '1.5'",
        ),
        (
            {"OTEL_TRACES_SAMPLER": "parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG": "x"},
            "OTEL_TRACES_SAMPLER_ARG: must be a number from 0 to 1, not 'x'",
        ),
        ({"OTEL_EXPORTER_OTLP_CERTIFICATE": "/nowhere"}, "OTEL_EXPORTER_OTLP_CERTIFICATE: /nowhere cannot be read"),
    ],
)
def test_a_wrong_variable_is_named(variables: dict[str, str], told: str) -> None:
    with pytest.raises(Failure) as raised:
        check_variables(variables)
    assert told in str(raised.value)


def test_a_refusal_of_the_library_is_a_failure_without_a_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
    monkeypatch.setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "99999")
    with pytest.raises(Failure, match="max_export_batch_size must be less"), traces("s", "n"):
        pass
    check_variables({"OTEL_TRACES_SAMPLER": "parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0.1"})
