"""Hosts carry events in and panes out. They decide nothing: every rule is a machine's.

What they carry them to is `beamlike.runtime`. Read in this order: `clock` (the time of day), `live`
(a stage that runs on it), `garbage` (when Python looks for it), `pipeline` (a graph in this
process), `local` (the runtime in this process). Queries of DataFrames: `frames` (what becomes of
their rows, whichever host has them), `describing` (what a test has to know of one), then `spark`
(streaming queries and bounded DataFrames) and `tables` (the same queries in tests without Spark).
"""
