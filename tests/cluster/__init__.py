"""A cluster of several hosts on one machine, and what goes wrong there: see `__main__`."""
