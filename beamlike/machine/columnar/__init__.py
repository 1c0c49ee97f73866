"""The columnar machine: the steps of many keys at once, as operations on arrays.

It gives what the reference machine gives, window by window and step by step; random scenarios
run through both. Where the two differ, a person reads the reference, and one of them is fixed.
What has to call a function of the user's about windows or triggers is left to the reference.

Read in this order: `arrays` (columns of any kind, sorting them, and finding in them), `leaves` (a
trigger's state as columns, the methods of a trigger, and triggers without children), `composites`
(triggers of triggers, and from a trigger to its running form), `folds` (combine functions over
columns), `columns` (what is remembered, goes in and comes out, also as values one by one).

Then a step: `assign` (a bundle's elements with their windows), `sweep` (which windows become one),
`rules` (what all parts of a step need of the strategy, and when windows need the next step), `late`
(what makes an element late), `merging` (what becomes of the state of windows that merge), `adding`
(the windows that a bundle concerns, and elements that reach theirs), `session_ids` (names of
sessions), `emission` (panes, whether they are as before, and what is left after them), `step` (a
bundle, a watermark, the clock), `lifting` (elements combined before they arrive). `first` groups
nothing: it lets the first element of each key and window go on.
"""
