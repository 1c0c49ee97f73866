"""An application that watches toll booths: which its tests, beside this folder, are about.

Original: ``toll-domain``, ``toll-application`` and ``stream-processing-shared`` of
mkuthan/stream-processing, commit ce36cac. A module here is an object there, with the same names
of functions in snake case.

What differs: a class with ``key`` and ``+`` stands for an instance of ``SumByKey``. What is grouped
has keys of plain values, ``(entry.id.id, entry.license_plate.number)`` for ``(entry.id,
entry.licensePlate)``. Times are aware `datetime`, amounts `Decimal`. A job reads and saves by name,
and a sink does not return what it could not write: that is the sinks' business, of which there are
none here. Messages and records have the fields that are read, and are of one class where these have
the same names; so are the diagnostics of booths and of inputs.

Read in this order: `common` and `syntax` (what all use), `booth`, `registration`, `vehicle` (the
domain), `streaming_job` and `batch_job` (the application), `fixtures` (data of the tests).
"""
