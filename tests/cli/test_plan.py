"""``beamlike plan``: estimates that grow with what makes a query grow."""

import attrs
import pytest

from beamlike.cli import main
from beamlike.cli.plan import needs_of
from beamlike.inspect.cost import COSTS, Load, Machines, cost_of


def test_the_estimate_of_a_stream(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--events", "20000"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "micro-batch    200,000 events in 0.8 s of 10 s",
        "of which       driver 0.3 s, tasks 0.2 s, shards 0.0 s, events 0.2 s, network 0.0 s",
        "executors      1, of 2 cores each",
        "shards         8, and 8 spark.sql.shuffle.partitions",
        "tasks          8 in a micro-batch, 8 commits of state an executor",
        "shuffle        0 MB between machines",
        "Python worker  0.5 GB, one for each core",
        "state on disk  0.01 GB at most, it is compressed",
    ]


@pytest.mark.parametrize(
    ("more", "executors"),
    [
        ({}, 1),
        ({"events": 20_000_000.0}, 8),
        ({"work": "function"}, 10),
        ({"events": 5_000_000.0, "groupings": 4}, 4),
    ],
)
def test_more_to_do_needs_more_machines(more: dict[str, float | str], executors: int) -> None:
    load = attrs.evolve(Load(events=1_000_000), **more)
    machines, cost = needs_of(load)
    assert machines.executors == executors
    assert cost.seconds <= 5


def test_many_windows_need_more_shards_and_disk() -> None:
    few, many = (needs_of(Load(10_000, windows)) for windows in (1_000, 50_000_000))
    assert (few[0].shards, many[0].shards) == (8, 50)
    assert many[1].disk_bytes == 6e9


@pytest.mark.parametrize("executors", [3, 5, 7])
def test_each_core_has_as_many_shards(executors: int) -> None:
    machines, _ = needs_of(Load(1_000_000), executors=executors)
    assert machines.shards % machines.slots == 0


def test_groupings_in_a_row_add_up_and_so_do_partitions_without_work() -> None:
    def seconds(groupings: int, partitions: int) -> float:
        machines = Machines(partitions=partitions)
        return cost_of(Load(10_000, groupings=groupings), machines).seconds

    assert seconds(3, 8) > 2 * seconds(1, 8)
    assert seconds(1, 200) > 5 * seconds(1, 8)
    # What one grouping takes with 200 partitions each one after it takes, too.
    assert seconds(3, 200) == pytest.approx(3 * seconds(1, 200), rel=0.1)


@pytest.mark.parametrize("field", ["driver", "tasks", "shards", "events"])
def test_slower_cores_take_as_much_longer(field: str) -> None:
    quick, slow = (
        getattr(cost_of(Load(10_000), Machines(speed=speed, commit=0)), field) for speed in (1, 0.5)
    )
    assert slow == pytest.approx(2 * quick)


def test_more_executors_help_as_far_as_there_are_shards_and_keys_that_are_not_hot() -> None:
    def events(executors: int, **more: float) -> float:
        cost = cost_of(Load(1_000_000, **more), Machines(executors, 2, 8, 8))  # type: ignore[arg-type]
        return cost.events

    alone = 1_000_000 * COSTS["sessions"] * 1e-6
    assert [events(n) / alone for n in (1, 2, 4, 8)] == pytest.approx([1 / 2, 1 / 4, 1 / 8, 1 / 8])
    assert events(4, hottest=0.5) / alone == pytest.approx(0.5 + 0.5 / 8)


def test_what_machines_do_not_help_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--events", "10", "--every", "1", "--speed", "0.2"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == (
        "1.8 s of it are there without any event: start micro-batches less often, --every 5, or "
        "have fewer partitions and groupings"
    )
    assert main(["plan", "--events", "900000", "--hottest", "0.3"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == (
        "it takes more than half of 10 s: give it more machines, spread the most frequent key "
        "(hot_key_fanout), or start micro-batches less often, such as --every 16"
    )


@pytest.mark.parametrize("speed", ["fast", "0", "-1", "nan", "1000"])
def test_a_speed_that_is_none_is_refused(speed: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--events", "10", "--speed", speed]) == 2
    assert f"must be a number from 0.01 to 100, got {speed!r}" in capsys.readouterr().err
