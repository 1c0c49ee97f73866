"""The Spark host: streaming through ``transformWithState``, and bounded DataFrames.

Read `plan` (what a worker knows), `pack` (rows to blobs and back), `state` (the layout of
saved state), `shard` (one shard's step), `processor` and `query` (how Spark calls it), and
`replay` (scripts on a real query).
"""
