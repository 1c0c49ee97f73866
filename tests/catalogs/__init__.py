"""Tables of Spark's catalogs: Delta Lake and Iceberg, each with a PySpark that its jar runs on."""
