"""Pure machines: ``(state, event) -> (state, effects)``. No Spark, no clock, no I/O.

Instants and durations are whole numbers of ticks here: milliseconds or microseconds, as the
`beamlike.model.resolution.Resolution` of the query says.

Read in this order: `events` (what goes in and what comes out, the same for all machines),
`failures` (what becomes of a function of the user's that raises), `assigning` (the windows of an
element), `equality` (whether a pane equals the one before it), `reference` (the executable
specification of a grouping, one key at a time), `columnar` (the same for many keys at once, over
arrays), `changelog` (retractions as changes of a table), `liftable` (what may be combined before it
is grouped), `lifting` (doing so), `ungrouped` (what machines share that do not group, and the
smallest of them, which only assigns windows), `userstate` (a function with states and timers),
`side_input` (a main input that looks into a windowed side input), `input_clocks` (what moves the
watermark of an input, what is remembered of it, and the output watermark that follows), `clocks`
(the watermark of a stage with several inputs), `gaps` (that one row far ahead of all others does
not move the watermark of its source), `key_clock` (the watermark of a key that has one of its own).
"""
