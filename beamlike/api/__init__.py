"""What users call. Everything here stands on the hosts and decides nothing about panes.

Shared by all: `arguments` (checks of what is passed, and warnings that point at the user's line),
`user_timers` (timers as functions see them), `pickle_coder` (values of any kind as bytes),
`marked_methods` (what decorators note on methods), `function_rows` (rows as functions are given
them), `dofn_rows` (functions of Beam over such rows).

Read in this order: `dataframe` (queries of DataFrames), `kafka` (their topics), `pipelines` (Beam's
transforms and Scio's verbs), `explain` (the graph of either), `maintenance` (a query brought to its
end, or its state over other partitions), `spark_names` (what PySpark calls otherwise).
"""
