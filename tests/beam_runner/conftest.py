"""The scenarios are collected where the Beam SDK is: elsewhere `test_short` runs them."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("apache_beam") else ["scenarios"]
