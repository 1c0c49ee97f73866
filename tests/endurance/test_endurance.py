"""``python -m tests.endurance`` in small: what comes out is exact, and nothing stays behind."""

import importlib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def works(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The modules of the command, as they are found from the top of the checkout."""
    monkeypatch.syspath_prepend(str(ROOT))

    def module(name: str) -> ModuleType:
        return importlib.import_module(f"tests.endurance.{name}")

    return module


@pytest.mark.nightly
@pytest.mark.spark
def test_many_windows_open_are_touched_and_close_together(
    works: Any, spark: Any, tmp_path: Path
) -> None:
    finding = works("open_windows").open_windows(spark, tmp_path, 200_000)

    assert finding.wrong == []
    assert finding.figures["elements"] == "210,000"
    assert finding.figures["windows open, most"] == "200,001"


@pytest.mark.nightly
@pytest.mark.spark
@pytest.mark.parametrize("lists", [False, True])
def test_one_session_takes_a_million_elements(
    lists: bool, works: Any, spark: Any, tmp_path: Path
) -> None:
    assert works("one_key").hot_key(spark, tmp_path, 1_000_000, lists=lists).wrong == []


@pytest.mark.nightly
@pytest.mark.spark
def test_a_hundred_thousand_sessions_become_one_at_once(
    works: Any, spark: Any, tmp_path: Path
) -> None:
    assert works("one_key").merged_at_once(spark, tmp_path, 100_000).wrong == []


@pytest.mark.nightly
@pytest.mark.spark
def test_under_a_steady_load_all_is_accounted_for_and_nothing_is_left(
    works: Any, spark: Any, tmp_path: Path
) -> None:
    finding = works("soak").soak(spark, tmp_path, batches=45, rows=1_000, every="0 seconds")

    assert finding.wrong == []
    assert finding.figures["elements"] == "45,001"


def test_memory_that_grows_between_the_quarters_is_reported(works: Any) -> None:
    mib = 2**20
    grown = works("soak").growth([400 * mib, 500 * mib, 500 * mib, 500 * mib, 700 * mib])

    assert grown == (500 * mib, 700 * mib)


def test_a_work_tells_what_is_wrong_below_its_figures(works: Any) -> None:
    report = works("report")
    finding = report.Finding("a work", {"elements": "3", "dropped": "1"}, ["2 came out, not 3"])

    assert report.described(finding) == (
        "a work\n  elements  3\n  dropped   1\n  WRONG: 2 came out, not 3"
    )


def test_the_works_are_listed(works: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert works("__main__").main(["--list"]) == 0
    names = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert names == ["open-windows", "hot-key", "hot-key-lists", "merge-at-once", "soak"]
