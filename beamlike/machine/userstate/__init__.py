"""The machine of stateful functions: states and timers for each key and window.

Read in this order: `saved` (the saved state of a window), `cells` (states as a function sees them),
`call` (timers as a function sees them, and one call of a function), `running` (what happens in a
step, in which order), `machine` (the step itself, one key at a time).

This machine is both the reference and what hosts run: each key is stepped alone, and only if
something arrives for it or is due.

Source: Beam Java ``StatefulDoFnRunner``, ``SimpleDoFnRunner``, ``InMemoryTimerInternals``.
"""
