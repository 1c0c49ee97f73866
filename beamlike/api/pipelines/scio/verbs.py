"""All verbs together, for `PCollection` to inherit."""

from typing import TypeVar

from beamlike.api.pipelines.scio.batching import BatchingVerbs
from beamlike.api.pipelines.scio.by_key import ByKeyVerbs
from beamlike.api.pipelines.scio.elementwise import ElementVerbs
from beamlike.api.pipelines.scio.global_combines import OverallVerbs
from beamlike.api.pipelines.scio.hints import HintVerbs
from beamlike.api.pipelines.scio.joining import JoinVerbs
from beamlike.api.pipelines.scio.pairs import KeyedVerbs
from beamlike.api.pipelines.scio.sampling import SamplingVerbs
from beamlike.api.pipelines.scio.saving import SavingVerbs
from beamlike.api.pipelines.scio.side_lookups import LookingVerbs
from beamlike.api.pipelines.scio.timing import TimingVerbs

__all__ = ["ScioVerbs"]

T_co = TypeVar("T_co", covariant=True)


class ScioVerbs(
    ElementVerbs[T_co],
    KeyedVerbs[T_co],
    TimingVerbs[T_co],
    ByKeyVerbs[T_co],
    OverallVerbs[T_co],
    JoinVerbs[T_co],
    LookingVerbs[T_co],
    SamplingVerbs[T_co],
    BatchingVerbs[T_co],
    SavingVerbs[T_co],
    HintVerbs[T_co],
):
    """Every verb of Scio's that there is here, in snake case."""
