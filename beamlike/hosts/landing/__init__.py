"""Tables in which results land: one row for each result that stands, put and deleted by batches.

Read in this order: `batch` (what one micro-batch changes), `target` (what a table must be able to
do), `columns` (its columns), `sql` (databases that are asked in SQL: SQLite, DuckDB and
PostgreSQL), `jdbc` (those that Spark reaches), `delta` and `iceberg` (tables of files), `writer`
(what ``foreachBatch`` calls).

Nothing here is imported before it is used: each target needs an extra of its own.
"""
