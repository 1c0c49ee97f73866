"""Pipelines in Beam's words, and collections with Scio's verbs.

Read in this order: `transform` (what a transform is, what it is applied to, and the names of those
in others), `keeping` (which outputs a run keeps), `pipeline` (a pipeline and its collections),
`checks` (of what is given), `pvalues` (the classes that programs name for these, and the outputs of
transforms with several), `options` (a command line, for the code that builds one, and runners),
`beams_own` (what only Beam's SDK has), `result` (what a run raises and returns) and `metrics` (what
it reports), `variables` (what type checkers infer), `hints` (declared types). Then how elements are
worked on: `dofn` (functions over elements, and what they ask for), `column_functions` (those that
take a column), `dofn_invoker` (how they are called), `views` (side inputs that these are given),
`userstate` (the states and timers that functions declare), `stateful_dofn_invoker` (how such
functions are called), `combinefn` (Beam's combine functions), `grouping` (what all that group are
made of), `pane_times` (panes that are put into windows by a time that is not theirs). Then Beam's
transforms: `pardo`, `elements`, `windowing`, `groups`, `cogroups`, `combiners`, `pairs`, `rows`,
`batches`, `deduplicating`. From outside and to the outside: `on_spark` (which query a pipeline
becomes), `coders` (values as bytes), `frames` (DataFrames), `text_files`, `kafka` (topics) and
`job_io` (inputs and outputs of jobs). What Beam Python counts in seconds is in `python`, Scio's
verbs are in `scio`.
"""
