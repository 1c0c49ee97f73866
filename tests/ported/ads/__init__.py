"""Advertisements and screens that are enriched by functions with states and timers.

Original: ``beam/examples`` of mkuthan/example-beam: the model, ``LookupCacheDoFn``, ``RepeatDoFn``
and the two jobs that use them. The functions are `beamlike.beam.DoFn`; all around them is Scio's.

What differs: states and timers are parameters with defaults, as in Beam Python, and instants are
`Timestamp` and `Duration`, whose numbers are seconds.
"""
