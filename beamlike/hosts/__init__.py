"""Hosts carry events in and panes out. They decide nothing: every rule is a machine's.

`script` is what a test tells a host, `memory` runs it in this process, `spark` runs
streaming queries and bounded DataFrames.
"""
