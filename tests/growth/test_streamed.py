"""Memory of a pipeline in this process: it does not grow with the number of elements."""

import pytest

from tests.growth.streamed import HOSTS, Streamed, measured, section


@pytest.mark.parametrize("host", HOSTS)
def test_twice_the_elements_take_no_more_memory(host: str) -> None:
    few, many = (measured(host, elements) for elements in (200_000, 400_000))
    assert many.mebibytes - few.mebibytes < 8  # kept, 200,000 more took 100 MiB and more


@pytest.mark.nightly
@pytest.mark.parametrize("host", HOSTS)
def test_ten_million_elements_take_no_more_memory(host: str) -> None:
    few, many = (measured(host, elements) for elements in (300_000, 10_000_000))
    assert many.mebibytes - few.mebibytes < 24


def test_runs_are_a_table() -> None:
    assert (
        section([Streamed("local", 3_000_000, 11.5, 182)])
        == """\
## Elements of a pipeline

Three maps and a count in this process; the peak of its memory does not grow.

| host | elements | s | MiB |
|---|---|---|---|
| local | 3,000,000 | 11.5 | 182 |
"""
    )
