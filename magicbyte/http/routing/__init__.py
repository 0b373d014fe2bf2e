"""From a request to its answer: rows, access, limits, remembered answers, and the record of it all."""
