"""Hosts carry events in and panes out. They decide nothing: every rule is a machine's.

Read in this order: `script` (what a test tells a host, and the record of a run), `memory` (runs it
in this process), `chain` (several groupings there, one after the other), `clock` (the time of
day), `live` (a stage that runs on it), `spark` (streaming queries and bounded DataFrames).
"""
