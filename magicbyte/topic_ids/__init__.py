"""The schema ids in the records of topics."""
