"""Values: what the author of a pipeline decides. No Spark, no clock, no I/O.

Read in this order: `time`, `windows`, `windowfns`, `sessions`, `triggers`, `panes`, `combine`,
`strategy`. How the values behave is the business of `beamlike.machine`.
"""
