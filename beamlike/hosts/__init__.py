"""Hosts carry events in and panes out. They decide nothing: every rule is a machine's.

What they carry them to is `beamlike.runtime`. Read in this order: `clock` (the time of day),
`garbage` (when Python looks for it), `frames` (what becomes of the rows of a query, whichever host
has them), `finding` (which host that is), `describing` (what a test has to know of a query),
`failed_starts` (what helps when Spark starts no query), then the hosts: `memory` (the reference
machine in this process), `local` (the runtime in this process, without Spark), `spark` (streaming
queries and bounded DataFrames). The tables in which results land are in `landing`; `scripts` runs a
script for one stage in this process, as the pipeline that it is.
"""
