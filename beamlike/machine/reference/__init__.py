"""The executable specification: one key at a time, plain Python, readable.

Read in this order: `state` (what is remembered), `running` (what a trigger in action is asked),
`leaves`, `extra_leaves` (those that Beam does not have) and `composites` (how each trigger
answers), `triggers` (from a trigger to its running form). Then a step: `context` (the working copy
of one), `late` (what makes an element late), `merging` (windows that become one), `adding`
(elements that reach their window), `emission` (panes, and what is left after them), `step` (what
happens on a bundle, on a watermark, on the clock), and `next_timers` (when a key has to be asked
again).
"""
