"""Hosts carry events in and panes out. They decide nothing: every rule is a machine's.

What they carry them to is `beamlike.runtime`. Read in this order: `clock` (the time of day),
`describing` (what a test has to know of a query), `live`
(a stage that runs on it), `garbage` (when Python looks for it), `local` (the runtime in this
process). Whole pipelines: `pipeline` (a graph in this process), `local_nodes` (its groupings as
shards of production). Then `spark` (streaming queries and bounded DataFrames).
"""
