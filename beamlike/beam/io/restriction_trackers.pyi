"""Beam's ``apache_beam.io.restriction_trackers``: what is here of it."""

from beamlike.api.pipelines.io.range_trackers import OffsetRangeTracker as OffsetRangeTracker
from beamlike.api.pipelines.io.restrictions import OffsetRange as OffsetRange
from beamlike.api.pipelines.io.restrictions import (
    OffsetRestrictionTracker as OffsetRestrictionTracker,
)
from beamlike.api.pipelines.io.restrictions import RestrictionProgress as RestrictionProgress
from beamlike.api.pipelines.io.restrictions import RestrictionTracker as RestrictionTracker
from beamlike.api.pipelines.io.restrictions import (
    UnsplittableRestrictionTracker as UnsplittableRestrictionTracker,
)
