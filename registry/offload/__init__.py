"""Work on schemas as values: small work is done at once, and large work by child processes."""
