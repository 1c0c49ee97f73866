"""Assertions about the output of a grouping.

Read in this order: `equality`, `values` (what must be in panes), `matchers` (in which panes),
`complete` (the whole output), `failures` (what an assertion is about, and what a failure says).
"""
