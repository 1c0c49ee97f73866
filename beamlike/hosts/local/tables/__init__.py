"""Queries over tables: what `windowed` and `stream` describe, in this process and without Spark.

A `TableFrame` stands for a streaming DataFrame. It knows the names and types of its columns, and
makes their rows of those that arrive in a micro-batch. Groupings are packed, stepped and unpacked
by what does that in a streaming query. Only what a query says in SQL, such as how a text is read as
a time, is here done in Arrow, with the same results. Expressions of users are computed by the
session of Spark that they were made in.

Read in this order: `ddl` (types of columns from their text), `texts` (times and numbers as Spark
reads and writes them), `frame` (the stand-in), `sources` (event times), `query` (micro-batches,
groupings and their state), `verbs` (what becomes of rows, and rows for the packer).
"""

from beamlike.extras import needs

needs("a test of a query", "spark")
