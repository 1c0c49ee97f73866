"""The Spark host: streaming through ``transformWithState``, and bounded DataFrames.

Read in this order. The data: `columns` (accumulators as Arrow columns), `plan` (what a worker
knows), `values` (which value a window function is given), `blobs` (tables as bytes), `output`
(panes and drops as rows), `pack` (rows to blobs and back), `state` (the layout of saved state).
The work: `shard` (one shard's step), `processor` and `query` (how Spark calls it),
`ticks` (what wakes a query without data). The edges:
`bind` (from the columns of a DataFrame to a plan), `session` (a Spark session that fits),
`replay` and `replay_worker` (scripts on a real query, on the driver and on the workers).
"""
