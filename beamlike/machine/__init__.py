"""Pure machines: ``(state, event) -> (state, effects)``. No Spark, no clock, no I/O.

`events` holds what goes in and what comes out and is shared by all machines.
`reference` is the executable specification, one key at a time.
"""
