"""Combine functions over columns: the elements of many windows become accumulators at once.

Each fold computes what its function in `beamlike.model.combine` does, to the last digit, for all
windows of a bundle, and is saved in Arrow columns. Folds of numbers and of whole Arrow columns have
no loop over rows or windows; any other function runs in `Objects`.

Read in this order: `base` (what a fold is, and between Arrow and NumPy), `numbers` (counts and
sums), `sql` (means, and sums of DataFrames), `extremes` (least and greatest), `ordered` (lists,
each value once, the first and the last), `corrected` (over rows of which some withdraw others),
`objects` (everything else), `choice` (from a function to its fold).
"""
