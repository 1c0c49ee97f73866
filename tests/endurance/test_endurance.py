"""``python -m tests.endurance`` in small: what comes out is exact, and nothing stays behind."""

from pathlib import Path
from typing import Any

import pytest

from tests.endurance import __main__ as command
from tests.endurance import ageing, memory, one_key, open_windows, report, soak


@pytest.mark.nightly
@pytest.mark.spark
def test_many_windows_open_are_touched_and_close_together(spark: Any, tmp_path: Path):
    finding = open_windows.open_windows(spark, tmp_path, 200_000)

    assert finding.wrong == []
    assert finding.figures["elements"] == "210,000"
    assert finding.figures["windows open, most"] == "200,001"


@pytest.mark.nightly
@pytest.mark.spark
@pytest.mark.parametrize("lists", [False, True])
def test_one_session_takes_a_million_elements(lists: bool, spark: Any, tmp_path: Path):
    assert one_key.hot_key(spark, tmp_path, 1_000_000, lists=lists).wrong == []


@pytest.mark.nightly
@pytest.mark.spark
def test_a_hundred_thousand_sessions_become_one_at_once(spark: Any, tmp_path: Path):
    assert one_key.merged_at_once(spark, tmp_path, 100_000).wrong == []


@pytest.mark.nightly
@pytest.mark.spark
def test_under_a_steady_load_all_is_accounted_for_and_nothing_is_left(
    spark: Any, tmp_path: Path
) -> None:
    finding = soak.soak(spark, tmp_path, batches=45, rows=1_000, every="0 seconds")

    assert finding.wrong == []
    assert finding.figures["elements"] == "45,001"


def test_memory_that_grows_between_the_quarters_is_reported() -> None:
    mib = 2**20
    grown = soak.growth([400 * mib, 500 * mib, 500 * mib, 500 * mib, 700 * mib])

    assert grown == (500 * mib, 700 * mib)


def held(**amounts: int) -> Any:
    names = ("driver", "java", "heap", "workers", "threads", "files", "processes")
    return memory.Held(**{**dict.fromkeys(names, 100), **amounts})


def test_what_is_held_may_grow_by_a_twentieth_and_not_more() -> None:
    mib = 2**20

    def wrong(name: str, sizes: list[int], **options: Any) -> list[str]:
        looks = [held(**{name: size}) for size in sizes]
        found: list[str] = ageing.grown(looks, **options)[1]
        return found

    assert wrong("driver", [100 * mib, 400 * mib, 400 * mib, 419 * mib]) == []
    assert wrong("driver", [100 * mib, 400 * mib, 400 * mib, 421 * mib]) == [
        "driver grew from the second to the last quarter: 400.0 MiB, 421.0 MiB"
    ]
    assert wrong("java", [100 * mib, 400 * mib, 400 * mib, 800 * mib], but=["java"]) == []
    assert wrong("threads", [90, 60, 60, 163], spares={"threads": 100}) == []
    assert wrong("threads", [90, 60, 60, 63]) == []
    assert wrong("threads", [90, 60, 60, 64]) == [
        "threads grew from the second to the last quarter: 60, 64"
    ]


def test_micro_batches_that_take_more_of_the_processor_are_reported() -> None:
    cpu = "CPU of a micro-batch, second and last quarter"

    assert ageing.paced([9_000, 1_000, 1_100, 1_200]) == {
        "micro-batches": "4",
        "batch time, second and last quarter": "1.00 s, 1.20 s",
    }
    assert ageing.slower([9.0, 2.0, 2.1, 2.2]) == ({cpu: "2.00 s, 2.20 s"}, [])
    assert ageing.slower([9.0, 2.0, 2.1, 2.3])[1] == [
        "micro-batches take more of the processor: 2.00 s, 2.30 s"
    ]


@pytest.mark.nightly
@pytest.mark.spark
def test_a_query_that_was_stopped_leaves_nothing_behind(spark: Any, tmp_path: Path):
    finding = ageing.started_and_stopped(spark, tmp_path, 12, rest=1)

    assert finding.wrong == []


@pytest.mark.nightly
@pytest.mark.spark
@pytest.mark.parametrize(
    ("work", "size"),
    [
        ("together", [12]),
        ("many_keys", [20, 5_000]),
        ("ticking", [0.5]),
        ("state_beyond_its_bound", [40]),
    ],
)
def test_a_query_holds_as_much_as_before(
    work: str, size: list[int], spark: Any, tmp_path: Path
) -> None:
    finding = getattr(ageing, work)(spark, tmp_path, *size)

    # A run that is so short still fills Spark's pools: that is shown, and judged in a long one.
    assert [words for words in finding.wrong if not words.startswith(("java", "threads"))] == []


def test_a_work_tells_what_is_wrong_below_its_figures() -> None:
    finding = report.Finding("a work", {"elements": "3", "dropped": "1"}, ["2 came out, not 3"])

    assert report.described(finding) == (
        "a work\n  elements  3\n  dropped   1\n  WRONG: 2 came out, not 3"
    )


def test_the_works_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--list"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == [
        *("open-windows", "hot-key", "hot-key-lists", "merge-at-once", "soak"),
        *("restarts", "together", "many-keys", "ticking", "bounded"),
    ]
