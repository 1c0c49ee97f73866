"""What Beam Python counts in seconds, in classes of its own: ``beamlike.beam`` has them.

Read in this order: `durations`, `timestamps`, `reading` (times as callers write them), `panes`
(values of the core by Beam's arguments), `windows` (windows and elements with their time),
`window_fns` (window functions), `windowing` (`WindowInto`, triggers that wait), `functions`
(`DoFn`, event time by a function) and `streams` (the test stream). The core,
Scio's verbs and ``beamlike`` itself count milliseconds.
"""
