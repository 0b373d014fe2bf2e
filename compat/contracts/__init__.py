"""Data contracts: rule sets and metadata, the fields that they select, and the checks of both."""
