"""Tables in which results land: one row for each result that stands, put and deleted by batches.

Read in this order: `batch` (what one micro-batch changes), `landed_columns` (which columns are the
user's), `letters` (dead letters), `target` (what a table must be able to do), `value_types` (what
columns may hold), `database_types` (the columns of databases), `sql` (databases that are asked in
SQL), `databases` (SQLite, DuckDB and PostgreSQL), `jdbc` (those that Spark reaches), `delta` and
`iceberg` (tables of files), `catalogs` (those of Spark), `writer` (what ``foreachBatch`` calls).

Nothing here is imported before it is used: each target needs an extra of its own.
"""
