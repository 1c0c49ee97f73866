"""Scenarios of the runner. They run in an environment with Beam, see ``test_short``."""
