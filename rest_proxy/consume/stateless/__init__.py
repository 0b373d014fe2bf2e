"""Reads without a consumer: from an offset to an offset, on shared connections."""
