"""Verbs that say how the next one computes something, and not what: the results are the same.

Source: Scio ``SCollectionWithFanout``.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from beamlike.api.pipelines.groups import check_fanout
from beamlike.api.pipelines.scio.steps import K, Keyed, T_co, V, Verbs, with_next_fanout

if TYPE_CHECKING:
    from beamlike.api.pipelines.scio.collection import Pairs, SCollection


class HintVerbs(Verbs[T_co]):
    """In how many tasks the next verb combines."""

    def with_fanout(self, fanout: int) -> "SCollection[T_co]":
        """A copy of the collection: what the next verb makes of all elements is combined by so
        many tasks before it is combined by one.

        Raises:
            PipelineError: It is not a number of 1 or more; when a verb follows: elements cannot be
                combined before they are grouped.
        """
        check_fanout(fanout, "with_fanout")
        return with_next_fanout(self, fanout)

    def with_hot_key_fanout(self: Keyed[K, V], fanout: int | Callable[[K], int]) -> "Pairs[K, V]":
        """A copy of the collection: what the next verb makes of the values of a key is combined by
        so many tasks before it is combined by one; a function says for each key how many.

        Raises:
            PipelineError: It is not a number of 1 or more and not a function; when a verb follows:
                elements cannot be combined before they are grouped.
        """
        check_fanout(fanout, "with_hot_key_fanout")
        return with_next_fanout(self, fanout)
