"""A runner of pipelines that are written with the Apache Beam SDK for Python.

Read in this order: `sdk` (what of Beam is not public), `windows`, `strategies` (times and values of
Beam as those of the graph), `keys`, `elements` (elements in both forms), `metrics`,
`restrictions`, `steps` (functions as Beam's worker calls them), `stage`, `combines`, `merging`,
`stateful`, `splittable`, `side_inputs`, `sources` (the nodes of the graph), `transforms`
(beamlike's own words), `frames`, `collections` and `translation` (a pipeline as nodes), `on_spark`
and `runner` (what runs them).
"""

from beamlike.extras import needs

needs("BeamlikeRunner", "beam")

from beamlike.model.bundle import Retraction  # noqa: E402
from beamlike.runners.beam.runner import (  # noqa: E402
    BeamlikeOptions,
    BeamlikeRunner,
    to_data_frame,
)
from beamlike.runners.beam.transforms import (  # noqa: E402
    FromDataFrame,
    StrategyOptions,
    UpsertInto,
    WriteRows,
    retractable,
)

__all__ = [
    "BeamlikeOptions",
    "BeamlikeRunner",
    "FromDataFrame",
    "Retraction",
    "StrategyOptions",
    "UpsertInto",
    "WriteRows",
    "retractable",
    "to_data_frame",
]
