"""Whole pipelines under test.

Read in this order: `checks` (when assertions are evaluated), `collections`, `runs`, `overrides` and
`wiring` (what a test puts in place of parts), `contexts`, `jobs`, `inside` (what happened in their
groupings), `beam_matchers` and `beam` (Beam Python's names).
"""
