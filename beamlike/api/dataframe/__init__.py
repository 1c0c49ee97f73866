"""Queries of DataFrames and of tables of pyarrow: columns in, rows of panes out.

Read in this order: `inputs` (the inputs of a grouping, the graph before them, and which rows are
rejected), `key_clocks` (keys with watermarks of their own), `regrouping` (which panes can be
grouped again), `stage` (one grouping of a query), `windowed` (DataFrame in, DataFrame of panes
out), `stream` (rows with windows, to be grouped several times in one query), `row_steps` (its rows
one by one), `keyed` (its rows given to functions with states and timers), `declared` (what a class
declares for that), `row_functions` (objects of such classes, and functions of Beam, over rows),
`deduplicating` (the function that lets the first row of a key go on), `flatten` (several streams as
one), `joins` (several streams by one key), `lookup` (a stream that looks into the windows of
another one), `upserts` (results land in a table).
"""
