"""Traces: spans of our own, exported with OpenTelemetry if the environment asks for it; see docs/traces.md."""
