"""Combine functions: how the elements of a pane become one value.

The contract is Beam's: create an accumulator, add to it, merge two, extract the result. Those of
your own are subclasses of `CombineFn`; `beamlike.testing.check_combine_fn` checks them.

A pane can be empty: the on-time pane of a window whose elements all came out before, and any pane
of a window that closes under ``FIRE_ALWAYS``. Beam then gives the value of a fresh accumulator,
and so does every function here. Scio fails there in some operations, with "Empty output in
combine*/sum*"; `CombineFn.on_empty` says so of each function.

=====================  ===============  ==========================  ==================
function               empty pane       operation in Scio           fails when empty
=====================  ===============  ==========================  ==================
`Count`                0                ``countByKey``              no
`CountValues`          0                none                        no
`Sum`                  0                ``sumByKey``                yes
`Mean`                 None             ``meanByKey``               no
`Min`                  None             ``minByKey``                yes
`Max`                  None             ``maxByKey``                yes
`Collect`              ``[]``           ``groupByKey``              no
`CollectByTimestamp`   ``[]``           ``groupByKey``              no
`First`                None             none                        no
`Latest` (`Last`)      None             ``latestByKey``             no
`Top`                  ``[]``           ``topByKey``                no
`TopBy`                ``[]``           ``topByKey``                no
`ValueAtExtreme`       None             none                        no
`Sample`               ``[]``           ``sampleByKey``             no
`ApproxQuantiles`      ``[]``           ``approxQuantilesByKey``    no
`CountDistinct`        0                none                        no
`CollectSet`           ``[]``           none                        no
`ApproxDistinct`       0                none                        no
`Together`             of each part     none                        if a part does
your own               as it says       ``aggregateByKey(zero)``    no
=====================  ===============  ==========================  ==================

``reduceByKey`` and ``combineByKey`` of Scio have no value for nothing and fail as well; a
`CombineFn` always has one, as ``aggregateByKey`` with a zero has.

Read in this order: `base` (the contract), `folds` (counts, sums, means, extremes), `sql` (sums and
means of DataFrames), `ordered` (lists, and the first, last and greatest), `plain` (values as text
and as hashes), `distinct` (each value once), `ranked` (by another column), `sample` and `sketches`
(a part or an estimate in place of everything), `together` (several over one pane), `corrected`
(over rows of which some withdraw others), `steps` (functions in the shape of Beam Python's),
`isolated` (those of users, which may change what they are given).

Source: Beam Java ``Combine.CombineFn``, Beam Python ``CombineFn``.
"""

from beamlike.model.combine.base import CombineFn, EmptyPane, Stamped, WholeNumbersFold
from beamlike.model.combine.distinct import CollectSet, CountDistinct
from beamlike.model.combine.folds import Count, CountValues, Max, Mean, Min, Sum
from beamlike.model.combine.ordered import (
    Collect,
    CollectByTimestamp,
    First,
    Last,
    Latest,
    Top,
    TopBy,
    ValueAtExtreme,
)
from beamlike.model.combine.sample import Sample
from beamlike.model.combine.sketches import ApproxDistinct, ApproxQuantiles
from beamlike.model.combine.together import Together

__all__ = [
    "ApproxDistinct",
    "ApproxQuantiles",
    "Collect",
    "CollectByTimestamp",
    "CollectSet",
    "CombineFn",
    "Count",
    "CountDistinct",
    "CountValues",
    "EmptyPane",
    "First",
    "Last",
    "Latest",
    "Max",
    "Mean",
    "Min",
    "Sample",
    "Stamped",
    "Sum",
    "Together",
    "Top",
    "TopBy",
    "ValueAtExtreme",
    "WholeNumbersFold",
]
