"""Scans of topics through the REST proxy: the records that fit a filter, of all partitions, merged by time."""
