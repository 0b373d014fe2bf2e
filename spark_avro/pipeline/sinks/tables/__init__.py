"""Delta and Iceberg tables: each commit names its batch."""
