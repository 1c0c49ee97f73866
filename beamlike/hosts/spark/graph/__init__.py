"""Whole pipelines as one Spark query.

A query is a chain: a graph is cut into layers, one for each grouping on the longest way through it.
A layer is one stateful operator that holds all groupings of its depth; between two layers, one
function takes elements through everything that only looks at them one by one. What a later layer
wants passes through those before. So whatever the shape of the graph, nothing is computed twice,
and Spark sees one operator after the other.

What travels, and what steps it, is in `beamlike.runtime.graph`. Read in this order: `stages` (from
a layer to the next, as functions that Spark calls), `scripts` (scripts as mail), `job` (scripts
that end, in one batch job), `query` (the whole, and scripts played on it), `element_rows` (elements
as rows of a schema), `reading` (rows as elements), `frames` (DataFrames as sources and collections
as DataFrames, and side inputs that are computed before), `checkpoint` (what a pipeline restarts
from), `running` (a pipeline that reads and writes them).
"""
