"""Pipelines in Beam's words, and collections with Scio's verbs.

Read in this order: `transform` (what a transform is), `collection` (what it is applied to),
`pipeline` (what holds both), `options` and `option_classes` (a command line, for the code that
builds one), `visiting` (what was built, as a tree), `value_providers` (options that come later),
`runners`, `raised` (what a run raises), `result` and `metrics` (what a run reports),
`variables` (what type checkers infer), `types` (hints of types that count in a run), `eager`
(transforms of plain lists). Then how elements are worked on: `dofn` (functions over elements),
`doing` (how they are called), `contexts` (what they are given beside the element), `views` (side
inputs that these are given), `combinefn` (Beam's combine functions), `repeating` (groupings that
count elements several times), `grouping` (what all that group are made of), `outputs` (of
transforms with several). Then Beam's transforms: `elements`, `windowing`, `groups`, `combiners`,
`approximate`, `pairs`, `times`, `rows`, `strings`, `logging_transforms`, `stateful`,
`keyed_batches`, `batches`; `error_handling` (elements that fail); and what Beam has and nothing
here does, `userstate`. From outside and to the outside: `on_spark` (which query a pipeline
becomes), `coders` and `more_coders` (values as bytes), `frames` (DataFrames) and `named` (inputs
and outputs of jobs). What Beam Python counts in seconds is in `python`, Scio's verbs are in `scio`.
"""
