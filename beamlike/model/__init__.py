"""Values: what the author of a pipeline decides. No Spark, no clock, no I/O.

Read in this order. Windows: `time` (whole numbers inside, friendly types outside), `resolution`
(what a tick is), `described` (what arguments are, and texts made of them), `windows` (spans of
event time), `windowfns` (which windows an element belongs to), `session_merging` and `sessions`
(those that merge), `calendar` (days, weeks, months and years in a time zone). Panes: `trigger_base`
(what every trigger is), `delays` (how times move), `triggers` (when a window's content comes out),
`trigger_context`, `custom_trigger` (triggers of one's own), `interval_triggers`, `extra_triggers`
(those that Beam does not have), `texts` (both read back), `rescaled`
(what users wrote for milliseconds, where a query counts finer), `panes` (what
one firing is called), `combine` (how elements become a pane's value), `aggregates` (the same for
the columns of a DataFrame). All of it together: `options` (choices among a few, numbers that count,
arguments by name), `readable` (what ``help`` shows), `fingerprint` (what saved state belongs to),
`strategy_parts` (which there are, and which go together), `strategy`, `strategy_arguments`
(what calls are given of it) and `presets` (parts often wanted together). What follows from a
strategy: `compatible` (what may be flattened), `side_inputs` (which window a main input looks
into), `trigger_analysis` (what a trigger can and cannot do), `report` (the same in sentences),
`repetition` (panes that hold the same elements), `pane_times` (panes that hide when their elements
were), `warn` (of all that is unwise). What functions of users may change: `copies`. And whole
pipelines: `coders` (values as bytes), `bundle` (elements that travel together),
`column_bundle` (as columns), `state_specs` (the states and timers of a function), `stateful` (a
function that has some), `graph` (many strategies in one).

How the values behave is the business of `beamlike.machine`.
"""
