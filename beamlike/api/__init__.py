"""What users call. Everything here stands on the hosts and decides nothing about panes.

Read in this order: `dataframe` (queries of DataFrames), `pipelines` (Beam's transforms and Scio's
verbs), `spark_names` (what PySpark calls otherwise).
"""
