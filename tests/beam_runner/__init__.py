"""Beam's own tests, from the installed SDK, on `beamlike.BeamlikeRunner`; see `__main__`."""
