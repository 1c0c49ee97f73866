"""The Spark host: streaming through ``transformWithState``, and bounded DataFrames.

What steps a shard is `beamlike.runtime`; here is how Spark calls it. Read in this order: `unpack`
(blobs to rows), `worker_errors` (what a worker raises, as text and back), `daemon` and `workers`
(how a Python worker comes to be, and what it does once), `deferred`, `processor` (the groups of an
operator, imported where their rows are), `query` (rows to blobs, and the chain of operators),
`state_cache` (copies of its state that the workers of an executor share), `observing` (what shards
count, as metrics), `ticks` (micro-batches without data). The edges: `sql_columns` (columns of a
DataFrame), `bind` (rows of a source, and rows for the packer, in SQL), `verbs` (what becomes of
rows, in SQL; stars and generators in expressions), `session` (a Spark session that fits),
`requirements` (what a session that fits is), `scratch` (folders that go with the process), `drain`
(an end for all windows), `repartition` (saved state over other partitions). Whole pipelines of
Python functions are in `graph`.
"""

from beamlike.extras import needs

needs("the Spark host", "spark")
