"""The executable specification: one key at a time, plain Python, readable.

Read `state` (what is remembered), `running`, `leaves` and
`composites` (how each trigger behaves), `step` (what
happens on a bundle, on a watermark, on the clock).
"""
