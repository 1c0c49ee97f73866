"""Every small stream: a search that leaves none out, up to a bound. See ``__main__``."""
