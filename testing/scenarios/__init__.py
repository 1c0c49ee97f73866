"""Scenarios as files.

Read in this order: `places` (where a mistake is), `schema`, `functions` (those
with states and timers that a file may name), `limits` (how large a scenario may be), `files`,
`results`, `writing`, `shrinking` (the least script that shows something), `capture` (scenarios from
the record of a query).
"""
