"""Runners of pipelines that are written with another library, on beamlike's graph.

`beam` runs pipelines of the Apache Beam SDK for Python. Nothing else in beamlike imports it.
"""
