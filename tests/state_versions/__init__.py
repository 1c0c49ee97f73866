"""Checkpoints of each layout of saved state, kept as files, and continued by the tests.

``works`` has the queries, ``stored`` packs and unpacks their checkpoints, and
``python -m tests.state_versions`` writes those of the layout of today. A layout that was released
stays here for as long as beamlike reads it.
"""
