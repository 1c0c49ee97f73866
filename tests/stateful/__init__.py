"""Many random functions with states and timers, on every host and in a plain model of the rules.

Read in this order: `programs` (what is run), `states` and `model` (the rules once more, plainly),
`laws` (what has to hold), ``__main__`` (the command).
"""
