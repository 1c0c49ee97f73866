"""The Spark host: streaming through ``transformWithState``, and bounded DataFrames.

Read in this order. The data: `columns` (accumulators as Arrow columns),
`user_made` (combine functions of a user's own among them), `operation` (what a stage does, and
how its values lie among columns), `options` (what it can be told besides its windows), `plan`
(what a worker knows, and the aggregation of a grouping), `look_up` (a main input that looks into
a side input), `values` (which value a window function is given), `blobs` (tables as bytes),
`marks` (the hidden column of rows between stages), `output` (panes and drops as rows), `state`
(the layout of saved state), `arrivals` (elements out of tables, also combined ones), `pack` (rows
to blobs and back). The work: `shard` (one shard's step), `processor` and `query` (how Spark calls
it), `fanout` (groups that combine the rows of hot keys first), `ticks` (what wakes a query without
data). The edges: `inputs` (columns of a DataFrame and their types), `aggregates` (what each
aggregate needs of them), `bind` (from the columns of a DataFrame to a plan), `session` (a Spark
session that fits), `replay` and `replay_worker` (scripts on a real query, on the driver and on the
workers).
"""
