"""Queries of DataFrames, fed micro-batch by micro-batch.

Read in this order: `rows` (what is sent, and what comes out, as panes and drops), `described` (what
a query is made of), `tables` (a query over tables), `scripted` (the watermarks and the clock of one
on Spark), `hosts` (where a query runs), `query`.
"""
