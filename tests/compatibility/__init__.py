"""What beamlike works with, see ``python -m tests.compatibility``."""
