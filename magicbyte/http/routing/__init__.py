"""From a request to its answer: rows, access, limits, cached answers, metrics and the access log."""
