"""The columnar machine: the steps of many keys at once, as operations on arrays.

It says what the reference machine says, window by window and step by step; random scenarios are
run through both. Where the two differ, the reference is read by a person, and one of them mended.
No host runs it yet.

Read in this order: `nodes` (a trigger's state as columns, and what a trigger is asked), `leaves`
and `composites` (how each trigger answers), `triggers` (from a trigger to its running form),
`folds` (combine functions over columns), `table` (what is remembered), `columns` (what goes in and
comes out), `assign` (windows of elements), `merging` (windows that merge), `step` (a bundle, a
watermark, the clock).
"""
