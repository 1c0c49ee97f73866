"""Scio's names in one place: ``from beamlike.scio import ScioContext, WindowOptions``.

    sc = ScioContext()
    counts = (
        sc.parallelize_timestamped([("foo bar", "00:00:00"), ("baz baz", "00:00:30")])
        .flat_map(str.split)
        .with_fixed_windows("1 minute", options=WindowOptions(allowed_lateness="30 s", ...))
        .count_by_value()
    )
    sc.run()

A collection is an `SCollection`, and Scio's verbs are its methods in snake case. It is a
`PCollection` as well, so Beam's transforms can be applied to it, which makes more of its kind. A
collection of Beam's gets the verbs from ``ScioContext(pipeline).wrap(collection)``, and
``collection.internal`` is one without them. What differs from
Scala is said where it does: a function in place of a partial one (``collect``), None in place of
``Option`` (the outer joins), ``+`` in place of a semigroup (``sum_by_key``).

Matchers and test streams are those of `beamlike.testing`.

Source: Scio ``com.spotify.scio``, ``com.spotify.scio.values``, by the same names in snake case; a
docstring names its source where that is another.
"""

from beamlike.api.pipelines.dofn import TimestampedValue
from beamlike.api.pipelines.pipeline import PCollection
from beamlike.api.pipelines.scio.collection import SCollection
from beamlike.api.pipelines.scio.context import ScioContext
from beamlike.api.pipelines.scio.multi import MultiJoin
from beamlike.api.pipelines.scio.results import ScioMetrics, ScioResult
from beamlike.api.pipelines.scio.sides import (
    SCollectionWithSideInput,
    SCollectionWithSideOutput,
    SideInput,
    SideInputContext,
    SideOutput,
    SideOutputCollections,
    SideOutputContext,
)
from beamlike.api.pipelines.scio.windowed import WindowedSCollection, WindowedValue
from beamlike.api.pipelines.scio.windows import WindowOptions

__all__ = [
    "MultiJoin",
    "PCollection",
    "SCollection",
    "SCollectionWithSideInput",
    "SCollectionWithSideOutput",
    "ScioContext",
    "ScioMetrics",
    "ScioResult",
    "SideInput",
    "SideInputContext",
    "SideOutput",
    "SideOutputCollections",
    "SideOutputContext",
    "TimestampedValue",
    "WindowOptions",
    "WindowedSCollection",
    "WindowedValue",
]
