"""Queries over tables: what `windowed` and `stream` describe, in this process and without Spark.

A `TableFrame` stands for a DataFrame: a streaming one in a test, a bounded one over a table of
pyarrow. It knows the names and types of its columns, and makes their rows of those that arrive.
Groupings are packed, stepped and unpacked by what does that in a query of Spark. Only what a query
says in SQL, such as how a text is read as a time, is here done in Arrow, with the same results.
Expressions of users are computed by the session of Spark that they were made in.

Read in this order: `texts` (times and numbers as Spark reads and writes them), `frame` (the
stand-in, and columns in the types that queries know), `query` (event times, rows for the packer,
groupings, and tables that are there at once), `verbs` (what becomes of rows).
"""

from beamlike.extras import needs

needs("a query of tables", "local")
