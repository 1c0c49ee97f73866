"""Transforms for everyday use: Beam Python's ``transforms.util``."""

from beamlike.api.pipelines.batches import BatchElements, GroupIntoBatches
from beamlike.api.pipelines.groups import CoGroupByKey, Distinct
from beamlike.api.pipelines.groups import Distinct as RemoveDuplicates
from beamlike.api.pipelines.logging_transforms import LogElements, Tee, WaitOn
from beamlike.api.pipelines.pairs import Keys, KvSwap, Reshuffle, Values, WithKeys
from beamlike.api.pipelines.strings import Regex, ToString
from beamlike.api.pipelines.times import Reify

__all__ = [
    "BatchElements",
    "CoGroupByKey",
    "Distinct",
    "GroupIntoBatches",
    "Keys",
    "KvSwap",
    "LogElements",
    "Regex",
    "Reify",
    "RemoveDuplicates",
    "Reshuffle",
    "Tee",
    "ToString",
    "Values",
    "WaitOn",
    "WithKeys",
]
