"""The Spark host: streaming through ``transformWithState``, and bounded DataFrames.

Read in this order. The data: `columns` (accumulators as Arrow columns), `user_made` (combine
functions of a user's own among them), `checked` (combine functions that say which element is too
much), `operation` (what a stage does, and how its values lie among
columns), `options` (what it can be told besides its windows), `changes` (what may differ at the
next start), `plan` (what a worker knows, and the aggregation of a grouping), `look_up` (a main
input that looks into a side input), `values` (which value a window function is given), `blobs`
(tables as bytes), `marks` (the hidden column of rows between stages), `output` (panes and drops as
rows), `state` (the layout of saved state), `room` (how much a shard can hold), `pages` (where state
rests, and what a step writes of it), `index` (what is known without reading it), `logs` (what
workers log), `jumps` (whether rows make a watermark jump), `arrivals` (elements out of tables, also
combined ones), `lift` (rows combined before they reach their shard), `pack` (rows to blobs),
`unpack` (blobs to rows).

The work, by either machine: `clock` (where the clocks of a shard stand), `shard` (one shard's step,
key by key), `keys` (keys as numbers), `part_folds` (aggregates as folds over columns),
`column_state` and `column_output` (state and panes in columns), `column_shard` (one shard's step,
all keys at once), `stepping` (which of the two, and why), `workers` (what keeps them quick),
`processor` and `query` (how Spark calls it), `fanout` (groups that combine the rows of hot keys
first), `ticks` (what wakes a query without data). The edges: `inputs` (columns of a DataFrame and
their types), `equality` (types whose values are compared as Spark compares them), `expressions`
(stars and generators among them), `pane_conditions` (which panes a condition leaves), `aggregates`
(what each aggregate needs of them), `bind` (from the columns of a DataFrame to a plan), `session`
(a Spark session that fits), `scratch` (folders that go with the process), `scripted` (scripts as
stages of shards), `replay` and `replay_worker` (on a real query, on the driver and on the workers),
`saved` (state that a person can open), `drain` (an end for all windows). Whole pipelines of Python
functions are in `graph`.
"""
