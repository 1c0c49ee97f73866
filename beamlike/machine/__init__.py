"""Pure machines: ``(state, event) -> (state, effects)``. No Spark, no clock, no I/O.

Read in this order: `events` (what goes in and what comes out, the same for all machines),
`passthrough` (a machine that only assigns windows, and the smallest one), `reference` (the
executable specification of a grouping, one key at a time).
"""
