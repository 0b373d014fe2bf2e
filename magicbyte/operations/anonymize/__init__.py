"""Anonymizing states: names and texts become stable tokens, and structure and verdicts stay."""
