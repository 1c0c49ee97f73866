"""Scio's verbs: what a collection can do by itself, without ``|`` and ``>>``.

Each verb is a row of a table, and a method of `SCollection` that is made of it; each applies
Beam's transforms and has no rules of its own but those about empty panes.

Read in this order: `call` (one call of a verb), `table` (how rows become methods), `functions`
(what runs), `elements` and `pairs` (elements one by one, pairs; where a job ends),
`windows` (windows, times and panes), `windowed` (all of these at once), `sampling` (elements by
chance), `combines` (one value for each pane), `joins` and `multi` (several collections by key),
`sides` and `lookups` (side inputs and side outputs), `collection` (all verbs together), `context`
(where a job begins, and what is known from a file), `results` (the result of a run).
"""
