"""The TestStream harness of beamlike."""
