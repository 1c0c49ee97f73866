"""The runtime of production in this process, without Spark.

Read in this order: `scripts` (a script of one grouping), `nodes` (the groupings of a pipeline as
shards), `tables` (queries of DataFrames over tables).
"""
