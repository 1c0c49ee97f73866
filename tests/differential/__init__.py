"""Many random scenarios, hosted and bundled in many ways: see ``__main__``."""
