"""The executable specification: one key at a time, plain Python, readable.

Read in this order: `state` (what is remembered), `running` (what a trigger in action is asked),
`leaves` and `composites` (how each trigger answers), `triggers` (from a trigger to its running
form), `late` (what makes an element late), `step` (what happens on a bundle, on a watermark, on the
clock), `wakes` (when a key has to be asked again).
"""
