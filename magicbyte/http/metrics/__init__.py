"""The metrics that all our HTTP servers share: requests, the process, and their text format."""
