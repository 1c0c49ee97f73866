"""Beam's ``apache_beam.io.range_trackers``: what is here of it."""

from beamlike.api.pipelines.io.range_trackers import (
    LexicographicKeyRangeTracker as LexicographicKeyRangeTracker,
)
from beamlike.api.pipelines.io.range_trackers import OffsetRangeTracker as OffsetRangeTracker
from beamlike.api.pipelines.io.range_trackers import (
    OrderedPositionRangeTracker as OrderedPositionRangeTracker,
)
from beamlike.api.pipelines.io.range_trackers import (
    UnsplittableRangeTracker as UnsplittableRangeTracker,
)
from beamlike.beam.io import iobase as iobase
