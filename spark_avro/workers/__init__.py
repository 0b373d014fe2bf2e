"""Columns decoded by Python workers."""
