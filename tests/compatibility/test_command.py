"""The command that tries versions and clusters, as far as it can be tried without them."""

import sys
import zipfile
from pathlib import Path

import pytest

from tests.compatibility.__main__ import Outcome, interpreter, main, page
from tests.compatibility.probe import zipped
from tests.compatibility.settings import SETTINGS


def test_the_settings_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    told = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert told == [
        "pyspark-4.1",
        "pyspark-4.2",
        "pyspark-4.3",
        "python-3.12",
        "python-3.13",
        "connect",
        "local-cluster",
        "standalone",
    ]


def test_this_python_is_found_and_one_that_there_is_not_is_not() -> None:
    major, minor = sys.version_info[:2]
    assert interpreter(f"{major}.{minor}") == sys.executable
    assert interpreter("2.99") is None


def test_what_was_seen_is_kept_as_a_table() -> None:
    outcome = Outcome(SETTINGS[0], True, "3.11.7", "4.1.4", "7 passed | 1 deselected", 90)
    assert page([outcome], quick=True).splitlines()[4:] == [
        "| setting | Python | PySpark | | saw | seconds |",
        "|---|---|---|---|---|---|",
        "| pyspark-4.1 | 3.11.7 | 4.1.4 | ok | 7 passed / 1 deselected | 90 |",
    ]


def test_the_package_that_is_shipped_has_all_of_its_modules(tmp_path: Path) -> None:
    with zipfile.ZipFile(zipped(tmp_path)) as shipped:
        names = set(shipped.namelist())
    assert {"beamlike/__init__.py", "beamlike/hosts/spark/processor.py"} < names
    assert {"beamlike/testing/__init__.py", "beamlike/viz/live/page.html"} < names
