"""The model of cost beside micro-batches that are simulated task by task."""

from pathlib import Path

import pytest

from beamlike.inspect.cost import Load, Machines, cost_of
from tests.cluster.simulation import CASES, EXECUTORS, Case, simulated, table

PAGE = Path(__file__).resolve().parents[2] / "docs" / "pages" / "scaling.md"
FACTOR = 2.0


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_model_is_within_a_factor_of_the_simulation_up_to_200_executors(case: Case) -> None:
    for executors in EXECUTORS:
        load, machines = case.load(executors), case.machines(executors)
        ratio = cost_of(load, machines).seconds / simulated(load, machines)
        assert 1 / FACTOR <= ratio <= FACTOR, (executors, ratio)


def test_the_page_shows_the_simulation_as_it_comes_out() -> None:
    assert "\n".join(table()) in PAGE.read_text(encoding="utf-8")


def test_a_task_alone_takes_what_it_takes_and_two_share_the_cores() -> None:
    load = Load(0, groupings=1)

    def seconds(partitions: int, executors: int) -> float:
        return simulated(load, Machines(executors, 1, partitions, partitions))

    alone, after, beside = seconds(1, 1), seconds(2, 1), seconds(2, 2)
    assert after > beside
    assert after - alone == pytest.approx(beside - alone, abs=0.2)
    assert simulated(load, Machines(1, 1, 1, 1, speed=0.5, commit=0)) == pytest.approx(
        2 * simulated(load, Machines(1, 1, 1, 1, commit=0))
    )
