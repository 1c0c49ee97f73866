"""Beam's ``apache_beam.version``."""

from importlib.resources import files


def _version() -> str:
    first = files("beamlike.beam").joinpath("names.txt").read_text("utf-8").split(",", 1)[0]
    return first.removeprefix("# The names of apache-beam ")


__version__ = _version()
"""The version of Beam Python whose names are here."""
