"""A query that is killed again and again, and must not lose or double a pane: see ``__main__``.

Read in this order: `feed` (what arrives), `sinks` (where it goes), `work` (what a query is here),
`functions`, `frames`, `grouped`, `pipelines`, `tables`, `sdk` and `topics` (the queries), `works`
(all of them), `needed` (what some of them need), `child` (the process that is killed, which runs
them), `surroundings` (what each start finds changed), `unsteady` (a file system that fails),
`daemon` (where its workers come from), `faults` (what goes wrong without a kill), `processes` (all
that a child has started), `moments` (when it is killed), `killing` (until the input is done),
`full_disk` (the same with a file system that is full), `stops` (at one point of a micro-batch),
`report`.

How it is judged: `outputs` (what came out, and what differs), `noted` (what Spark noted of each
micro-batch), `played` (what must come out by these notes), `rules` (what holds whatever they say),
`judging` (which of this a work is held against).
"""
