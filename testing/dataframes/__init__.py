"""Queries of DataFrames, fed micro-batch by micro-batch.

Read in this order: `rows` (what is sent, and what comes out, as panes and drops), `tables` (a query
over tables, and what a query is made of), `scripted` (the watermarks and the clock of one on
Spark), `hosts` (where a query runs), `query`.
"""
