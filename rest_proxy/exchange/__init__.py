"""A request and its answer, in all versions: bodies, parameters, media types, dialects, URLs and rate limits."""
