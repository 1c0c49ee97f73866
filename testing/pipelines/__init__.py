"""Whole pipelines under test.

Read in this order: `checks` (when assertions are evaluated), `collections` (and what happened in
their groupings), `runs`, `wiring` (what a test puts in place of parts), `contexts`, `jobs`,
`beam` (Beam Python's names).
"""
