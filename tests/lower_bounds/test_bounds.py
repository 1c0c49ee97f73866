"""The bounds are there to be tried. The trial itself: ``python -m tests.lower_bounds``."""

import re

import pytest

from tests.lower_bounds.__main__ import main
from tests.lower_bounds.bounds import constraints


def test_whatever_is_needed_has_a_lower_bound() -> None:
    pinned = dict(line.split("==") for line in constraints())

    assert {"attrs", "cloudpickle", "numpy", "pandas", "protobuf", "pyarrow"} <= pinned.keys()
    assert {"pyspark", "resvg-py", "rich", "datasketches", "hypothesis"} <= pinned.keys()
    assert all(re.fullmatch(r"\d+(\.\d+)*", version) for version in pinned.values())


def test_the_bounds_are_printed_as_constraints(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--print"]) == 0

    assert capsys.readouterr().out.split() == list(constraints())
