"""What running queries report to Spark, and what it adds up to.

Read in this order: `progress` (one micro-batch, out of what Spark reports), `listening` (where
Spark reports it), `records` (what is known of each query), `totals` (as metrics).
"""
