"""Runs the notebooks and saves them with what they say: ``python -m tests.saved_notebooks``."""
