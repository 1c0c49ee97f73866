"""Combine functions over columns: the elements of many windows become accumulators at once.

Each fold gives what its function in `beamlike.model.combine` gives, to the last digit, for all
windows of a bundle, and is saved in Arrow columns. Those that work on numbers and on whole Arrow
columns have no loop over rows or windows; any other function runs in `Objects`.

Read in this order: `base` (what a fold is, and between Arrow and NumPy), `numbers` (counts and
sums), `sql` (means, and sums of DataFrames), `extremes` (least and greatest), `ordered` (lists,
each value once, the first and the last), `corrected` (over rows of which some withdraw others),
`objects` (everything else), `choice` (from a function to its fold).
"""

from beamlike.machine.columnar.folds.base import (
    Accumulators,
    ElementsByWindow,
    Fold,
    FunctionRaised,
    SavedForm,
    Values,
    from_objects,
    values_array,
)
from beamlike.machine.columnar.folds.choice import fold_of
from beamlike.machine.columnar.folds.corrected import shown
from beamlike.machine.columnar.folds.objects import Objects

__all__ = [
    "Accumulators",
    "ElementsByWindow",
    "Fold",
    "FunctionRaised",
    "Objects",
    "SavedForm",
    "Values",
    "fold_of",
    "from_objects",
    "shown",
    "values_array",
]
