"""How fast the Spark host is, next to Spark's own windows: see ``__main__``."""
