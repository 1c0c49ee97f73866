"""The long trials, one after the other: ``python -m tests.nightly``."""
