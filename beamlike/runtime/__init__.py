"""Shards: what steps the groupings of a query, whatever hosts it. Nothing here needs Spark.

A shard is some of the keys of a grouping. It takes Arrow tables of elements and the watermark and
gives out effects or rows; between two steps its state is saved as bytes in a store of four methods.

Read in this order. Scripts: `script` (the steps of a test, and the record of a run), `memory` (the
reference machine runs it, key by key). The data: `accumulator_columns` (accumulators and values of
Python as Arrow columns), `checked_combine_fns` (combine functions that say which element is too
much, and a user's own), `named_rows` (rows for functions of users), `operation` (what a stage does,
and how its values lie among columns), `failing` (which share of calls fails), `options` (what it
can be given besides its windows), `changes` (what may differ at the next start), `plan` (what a
worker knows, and the aggregation of a grouping), `look_up` (a main input that looks into a side
input), `per_key` (a function with states and timers over rows), `known_keys` (what is remembered
where only the first row of each key goes on), `columnar_arrivals` (what window functions and
aggregates read of rows), `row_metadata` (the hidden column of rows between stages, and the types of
rows from outside), `json_rows` (dropped rows as JSON), `output` (panes and drops as rows),
`session_identity` (what names a session in rows), `store` (saved state), `progress` (how far event
times bring their source), `logs` (what shards log), `envelope` (what goes from one operator to the
next, and elements out of it), `lift` (rows that are combined before they reach their shard).

From the columns of a frame to a plan: `sql_types` (Arrow types by their names in SQL, and what
Arrow does not say of a column), `ddl` (types from their text), `frame_columns` (columns by name,
checked, and types whose values are compared as SQL compares them), `corrections` (what aggregates
need where rows withdraw others), `binding` (what each aggregate needs, and the plan),
`pane_conditions` (which panes a condition leaves).

The work, by either machine: `clock` (where the clocks of a shard stand, and what a jump of them
is), `shard` (one shard's step, key by key), `column_shard` (one shard's step, all keys at once),
`first_shard` (the same, of the first row of each key), `stepping` (which of these, and why),
`tally` (what a shard counts), `packing` (rows as envelopes), `work` (what an operator does with
what it is sent), `fanout` (groups that combine the rows of hot keys before). Whole pipelines of
Python functions are in `graph`.
"""
