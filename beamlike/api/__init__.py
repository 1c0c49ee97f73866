"""What users call. Everything here stands on the hosts and decides nothing about panes.

Read in this order: `dataframe` (queries of DataFrames), `pipelines` (Beam's transforms and Scio's
verbs), `explain` (the plan of a query of either), `maintenance` (a query brought to its end, or its
state over other partitions), `spark_names` (what PySpark calls otherwise).
"""
