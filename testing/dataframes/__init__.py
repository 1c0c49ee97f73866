"""Queries of DataFrames, fed micro-batch by micro-batch.

Read in this order: `rows` (what is sent), `outputs` (what comes out, as panes and drops), `hosts`
(where a query runs), `query`.
"""
