"""Scio's verbs: what a collection can do by itself, without ``|`` and ``>>``.

Each verb is a method of `SCollection`, which inherits them from the classes here; each applies
Beam's transforms and has no rules of its own but those about empty panes.

Read in this order: `steps` (what every verb is made of), `functions` and `dofns` (what runs),
`elementwise` and `pairs` (elements one by one, pairs; where a job ends), `batching` (elements in
lists), `timing` (windows, times and panes), `windowed` (all of these at once), `sampling` (elements
by chance), `by_key` and `global_combines` (one value for each pane), `joining` and `multi` (several
collections by key), `sides`,
`looked_up` and `side_lookups` (side inputs and side outputs), `hints` (what is the
same here), `collection` (all of them together), `context` (where a job begins, and what is known
from a file), `results` (the result of a run).
"""
