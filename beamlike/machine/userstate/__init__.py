"""The machine of stateful functions: states and timers for each key and window.

Read in this order: `saved` (what is remembered of a window), `cells` (states as a function sees
them), `call` (likewise timers, and one call of a function), `running` (a step under way: what is
due, in which order), `machine` (the step itself, one key at a time).

It is the reference and what hosts run: each key is stepped alone, and only if something arrives for
it or is due.

Source: Beam Java ``StatefulDoFnRunner``, ``SimpleDoFnRunner``, ``InMemoryTimerInternals``.
"""
