"""Hosts carry events in and panes out. They decide nothing: every rule is a machine's.

Read in this order: `script` (the steps of a test, and the record of a run), `memory` (the reference
machine runs it in this process), `local` (the runtime of production does), `clock` (the time of
day), `live` (a stage that runs on it), `garbage` (when Python looks for it). Whole pipelines:
`wire` (values as bytes), `keys` (keys as bytes), `metrics` (what users' functions count), `worker`
(what is asked of a node), `staged` (nodes that keep state), `nodes` (the others, and which is
which), `pipeline` (a graph in this process), `local_nodes` (its groupings as shards of production).
Then `spark` (streaming queries and bounded DataFrames).
"""
