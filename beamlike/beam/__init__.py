"""Beam's names in one place: ``import beamlike.beam as beam`` for ``import apache_beam as beam``.

    with beam.Pipeline() as p:
        counts = (
            p
            | beam.Create([("hi", "00:00:10"), ("hi", "00:00:50")])
            | beam.MapTuple(beam.TimestampedValue)
            | beam.WindowInto(beam.FixedWindows("1 minute"))
            | beam.combiners.Count.PerElement()
        )

A number that is a time or a duration counts seconds, as in Beam Python, in what is given and in
what comes out: windows, lateness, triggers, `TimestampedValue`, `WithTimestamps`,
`allowed_timestamp_skew`, what `FromDataFrame` and ``Pipeline.run`` wait for. Texts such as
``"10 minutes"`` and ``"00:01:30"``, ``timedelta`` and ``datetime`` do as well. What functions are
given (``DoFn.TimestampParam``, the bounds of windows) is a `Timestamp`, exact
to the millisecond: what is finer is rounded down where it enters a pipeline.

``beamlike`` itself, ``beamlike.scio`` and ``beamlike.testing`` count milliseconds. Their windows,
triggers and elements with a time may stand in a pipeline here, because each knows its unit. A test
stream of ``beamlike.testing`` with a bare number other than 0 is refused.

What happens is as in Beam Java where the two differ.

Imports by module work as well: ``from beamlike.beam.transforms.window import FixedWindows``. Every
module of Beam Python is there with every name, out of a table: what is not here is refused when it
is used, with what to write instead. `install_as` lets programs run that import ``apache_beam``.

Its own names are in that table, too, and for type checkers in a stub that is made of it.

Read in this order: `here` (which names are here), `tree` (the modules), `alias` (this package under
the name of Beam), `version` (of Beam).

Source: Beam Python ``apache_beam``, by the same names; a docstring names its source where that is
another.
"""

from beamlike.beam import version
from beamlike.beam.tree import install

__version__ = version.__version__
"""The version of Beam Python whose names these are."""

install()
