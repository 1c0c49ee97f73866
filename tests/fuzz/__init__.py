"""Everything that reads what others wrote, given bytes that nobody meant to write.

`readers` names each of them, with a few well-formed texts or blobs to begin with, and says what may
come of bad ones: a value, or a `BeamlikeError` with a text. `mutations` makes bad ones out of good
ones at random, for the tests. ``python -m tests.fuzz --minutes 30`` looks for more with atheris,
which keeps what reaches new code; what it found is in ``corpus`` and is read by the tests from then
on. ``LATEST.md`` tells of the last long run.
"""
