"""Pictures of what happened: `table` and `timeline` as text, `picture` as an image.

`cells` knows how wide characters are, and how the values of a column are cut. A picture shows a
`scene` of plain values, which `staging` makes of a run: `moments` cuts the run into steps and keys,
`run_index` says which keys, panes and drops belong together, and `key_history` what became of
elements and windows. A `panel` puts it on an `axis` of folded time, with `dots` for elements and
`labels` that keep clear of each other; `svg` writes all of it, and `saving` makes files of it.

`recording` is a run with everything in between, for closer reading, also with the values of windows
in between; `document` has it as plain values, and `page` makes them a page for a browser.

In words: `explain` says what happened in a recording and why, with what `narrative` says of one
key, `reasons` of merges and firings and `what_if` of drops, set by `sentences`; `compare` puts
several strategies side by side.

Nothing is imported here: only a PNG or a GIF needs a package, and only when it is written.
"""
