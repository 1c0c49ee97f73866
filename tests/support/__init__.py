"""What several test folders share. Nothing of it is installed.

`machines` (one grouping on each machine, and the laws of machines), `generated` (random strategies,
scenarios and pipelines, and how they shrink), `differential` (all of them, on many scenarios),
`pipelines`, `queries` (what running queries report and leave behind), `dialects` (cases of other
systems), `ten_scores` (the stream of every figure),
`accessibility` (what axe-core finds on a page).
"""
