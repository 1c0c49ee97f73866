"""``beamlike plan``: estimates that grow with what makes a query grow."""

import attrs
import pytest

from beamlike.cli import main
from beamlike.cli.plan import COSTS, Stream, needs_of


def test_the_estimate_of_a_stream(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--events", "20000"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "micro-batch    200,000 events in 0.8 s of 10 s",
        "cores          1",
        "shards         8, and spark.sql.shuffle.partitions as many, or a part",
        "Python worker  0.6 GB, one for each core",
        "state on disk  0.01 GB at most, it is compressed",
    ]


def test_what_the_benchmarks_measured_is_what_is_estimated() -> None:
    # 500,000 events on two cores: a work that takes all of its time has both.
    stream = Stream(events=500_000, every=1, windows=200_000)
    work = 500_000 * COSTS["sessions"] * 1e-6
    assert 0.3 + work / 2 == pytest.approx(0.90)
    assert needs_of(stream).worker_bytes < 1e9


@pytest.mark.parametrize(
    ("more", "cores"),
    [({}, 1), ({"events": 900_000}, 5), ({"work": "function"}, 20), ({"speed": 0.1}, 12)],
)
def test_more_to_do_needs_more_cores(more: dict[str, float], cores: int) -> None:
    stream = attrs.evolve(Stream(events=100_000, every=10), **more)
    assert needs_of(stream).cores == cores


def test_many_windows_need_more_shards_and_disk() -> None:
    few, many = (needs_of(Stream(1_000, windows=count)) for count in (1_000, 50_000_000))
    assert (few.shards, many.shards) == (8, 50)
    assert many.disk_bytes == 6e9


@pytest.mark.parametrize("cores_need", [3, 5, 7])
def test_each_core_has_as_many_shards(cores_need: int) -> None:
    needs = needs_of(Stream(events=cores_need * 1_900_000, every=10))
    assert needs.shards % needs.cores == 0


def test_micro_batches_that_follow_too_fast_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--events", "10", "--every", "1", "--speed", "0.2"]) == 0
    assert capsys.readouterr().out == (
        "a micro-batch takes 1.5 s with nothing to do, and one starts each 1 s: start them less "
        "often, --every 6\n"
    )


@pytest.mark.parametrize("speed", ["fast", "0", "-1", "nan", "1000"])
def test_a_speed_that_is_none_is_refused(speed: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--events", "10", "--speed", speed]) == 2
    assert f"must be a number from 0.01 to 100, got {speed!r}" in capsys.readouterr().err
