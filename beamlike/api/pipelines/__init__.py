"""Pipelines in Beam's words, and collections with Scio's verbs.

Read in this order: `inputs` (what transforms are applied to), `transform` (what a transform is),
`transform_tree` (names of transforms in others), `keeping` (which outputs a run keeps), `pipeline`
(a pipeline and its collections), `running` (where it runs), `checks` (of what is given), `pvalues`
(the classes that programs name for these), `options` (a command line, for the code that builds
one), `runners`, `beams_own` (what only Beam's SDK has), `result` (what a run raises and returns)
and `metrics` (what it reports), `variables` (what type checkers infer), `hints` (declared types).
Then how elements are worked on: `params` (what functions ask for), `dofn` (functions over
elements), `function_dofns` (plain functions as such), `column_functions` (those that take a
column), `dofn_invoker` (how they are called), `views` (side inputs that these are given),
`userstate` (the states and timers that functions declare), `stateful_dofn_invoker` (how such
functions are called), `combinefn` (Beam's combine functions), `combine_fns` (the built-in ones),
`grouping` (what all that group are made of), `pane_times` (panes that are put into windows by a
time that is not theirs), `outputs` (of transforms with several), `defaults` (what is made of no
elements). Then Beam's transforms: `pardo`, `elements`, `windowing`, `groups`, `cogroups`,
`combiners`, `pairs`, `times`, `rows`, `buffered_batches`, `batches`,
`deduplicating`; `error_handling` (elements that fail). From outside and to the outside: `on_spark`
(which query a pipeline becomes), `coders` (values as bytes), `frames`
(DataFrames), `text_files`, `kafka` (topics) and `job_io` (inputs and outputs of
jobs). What Beam Python counts in
seconds is in `python`, Scio's verbs are in `scio`.
"""

# Transforms are given what is made of other transforms: Map(...).with_exception_handling().
import beamlike.api.pipelines.error_handling  # noqa: F401
