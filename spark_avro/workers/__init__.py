"""Columns by Python workers."""
