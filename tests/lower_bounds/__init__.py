"""The lowest versions that `setup.cfg` allows, tried: a bound that nobody tries is a guess.

``python -m tests.lower_bounds`` installs exactly these into a new environment, runs the tests that
need no Spark, and a few that do. ``LATEST.md`` tells of the last run.
"""
