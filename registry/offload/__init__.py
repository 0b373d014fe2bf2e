"""Work on schemas, described as values: small jobs are done at once, large ones by worker processes."""
