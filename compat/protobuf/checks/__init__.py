"""Checks for the errors that protoc reports."""
