"""The executable specification: one key at a time, plain Python, readable.

Read in this order: `state` (what is saved), `running` (the methods of a running trigger),
`leaves`, `custom` (triggers of one's own, and those that Beam does not have) and `composites` (how
each trigger works, and from a trigger to its running form). Then a step: `context` (its rules and
its working copy), `late` (what makes an element late), `merging` (windows that become one),
`adding` (elements that reach their window), `emission` (panes, and what is left after them), `step`
(what happens on a bundle, on a watermark, on the clock), and `next_timers` (when a key needs its
next step).
"""
