"""Queries of DataFrames: columns in, rows of panes out.

Read in this order: `arguments` (checks of what is passed), `warning` (warnings that point at the
user's line), `explain` (the plan of a query), `regrouping` (which panes can be grouped
again), `stage` (one grouping of a query and its inputs), `windowed` (DataFrame in, DataFrame of
panes out), `stream` (rows with windows, to be grouped several times in one query), `keyed` (its
rows given to functions with states and timers), `declared` (what a class declares for that),
`plain_functions` (objects of such classes), `row_functions` (these, and those of Beam, over rows),
`deduplicating` (those that let the first row of a key go on),
`flatten` (several streams as one), `joins` (several streams by one key), `lookup` (a stream that
looks into the windows of another one), `upserts` (results land in a table), `saved` (the state of a
query: opened, and brought to its end).
"""
