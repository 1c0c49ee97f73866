"""A runner of pipelines that are written with the Apache Beam SDK for Python.

Read in this order: `sdk` (what of Beam is not public), `bundles`, `times`, `windows`, `strategies`
(values of Beam as those of the graph), `keys`, `elements` (elements in both forms), `metrics`,
`restrictions`, `steps` (functions as Beam's worker calls them), `stage`, `combines`, `merging`,
`stateful`, `splittable`, `side_inputs`, `sources` (the nodes of the graph), `transforms`
(beamlike's own words), `frames`, `collections` and `translation` (a pipeline as nodes), `errors`,
`options`, `on_spark`, `runner` and `data_frame` (what runs them).
"""

from beamlike.extras import needs

needs("BeamlikeRunner", "beam")

from beamlike.model.bundle import Retraction  # noqa: E402
from beamlike.runners.beam.data_frame import to_data_frame  # noqa: E402
from beamlike.runners.beam.options import BeamlikeOptions  # noqa: E402
from beamlike.runners.beam.runner import BeamlikeRunner  # noqa: E402
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
