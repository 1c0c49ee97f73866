"""Assertions about the output of a grouping.

Read in this order: `equality`, `values` (what must be in panes), `selection` and `matchers` (in
which panes), `expected` and `complete` (the whole output), `groupings` (what an assertion is
about), `failures` (what a failure says).
"""
