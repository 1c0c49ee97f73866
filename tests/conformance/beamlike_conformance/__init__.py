"""Scenarios of windows, triggers and panes, and a comparer for the results of any engine.

Read in this order: `schema` (reading JSON by a schema), `scenarios` (of Beam's model, and cases of
other systems), `rules` (which rules a scenario turns on), `comparing` (how an outcome differs),
`verdicts` (an engine's results, scenario by scenario), `command` (``beamlike-conformance``).

Imports are relative: the package is ``beamlike_conformance`` where it is installed, and
``tests.conformance.beamlike_conformance`` in the checkout of beamlike.
"""

__all__ = ["FORMAT_VERSION"]

FORMAT_VERSION = "beamlike-transcript-v1"
"""The format of the scenarios. A field that changes the meaning of others makes another version."""
