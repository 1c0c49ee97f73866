"""``python -m tests.growth``: its tables, its straight lines and its picture; no times."""

import json
from pathlib import Path

import pytest
from attrs import asdict

from tests.growth import cores, model
from tests.growth.__main__ import write
from tests.growth.axes import AXES
from tests.growth.report import Point, section, straight

EVENTS = AXES[0]


def points(*times: tuple[int, int]) -> list[Point]:
    return [Point(at, (ms - 10, ms, ms + 30), 200, 1_000) for at, ms in times]


def test_times_on_a_line_are_not_off() -> None:
    line = straight(points((1_000, 110), (2_000, 120), (10_000, 200)))

    assert (line.fixed, line.each) == (pytest.approx(100), pytest.approx(0.01))
    assert line.off < 1e-9


def test_times_that_grow_faster_are_off_by_what_the_worst_of_them_is() -> None:
    assert straight(points((1, 100), (2, 400), (3, 1_600), (4, 6_400))).off > 0.2


def test_an_axis_is_a_table_with_its_line() -> None:
    assert (
        section(EVENTS, points((1_000, 110), (2_000, 120)))
        == """\
## Events

| events in a micro-batch | ms | from, to | worker, MB | Java, MB |
|---|---|---|---|---|
| 1,000 | 110 | 100 to 140 | 200 | 1,000 |
| 2,000 | 120 | 110 to 150 | 200 | 1,000 |

A straight line: 100 ms and 10 ms for 1,000 of them, off by 0% at most.
"""
    )


def test_cores_are_compared_with_one_of_the_same_kind() -> None:
    speeds = [
        cores.Speed(place, engine, 1_000, (ms,))
        for place, times in zip(cores.PLACES, ((10, 20), (5, 10), (20, 40), (10, 40)), strict=True)
        for engine, ms in zip(cores.ENGINES, times, strict=True)
    ]

    assert cores.section(speeds).splitlines()[-4:] == [
        "| local[1] | 100,000 | 1.00 | 50,000 | 1.00 |",
        "| local[2] | 200,000 | 2.00 | 100,000 | 2.00 |",
        "| a cluster of one worker | 50,000 | 1.00 | 25,000 | 1.00 |",
        "| a cluster of two workers | 100,000 | 2.00 | 25,000 | 1.00 |",
    ]


def test_what_was_measured_is_written_as_tables_and_as_a_picture(tmp_path: Path) -> None:
    measured = {axis.name: points((1, 110), (2, 120)) for axis in AXES[:3]}
    results = json.loads(
        json.dumps({name: [asdict(it) for it in some] for name, some in measured.items()})
    )

    write({**results, "on": "2026-01-01", "machine": "two cores"}, tmp_path)

    text = (tmp_path / "LATEST.md").read_text(encoding="utf-8")
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    assert headings == [*(f"## {axis.name.capitalize()}" for axis in AXES[:3]), "## The model"]
    assert "two cores; 2026-01-01" in text
    assert (tmp_path / "latest.png").read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize("axis", AXES, ids=lambda axis: axis.name)
def test_sizes_grow_along_an_axis_and_late_micro_batches_are_measured(axis: object) -> None:
    for value in axis.values:  # type: ignore[attr-defined]
        _, shape = axis.case(value, 1.0)  # type: ignore[attr-defined]
        assert len(shape.measured) >= 4
        assert shape.measured[0] >= 4


def test_the_model_of_cost_is_within_its_factor_of_what_was_measured() -> None:
    kept = json.loads(Path(__file__).with_name("latest.json").read_text(encoding="utf-8"))
    measured = {
        axis: [Point(**{**point, "ms": tuple(point["ms"])}) for point in kept[axis]]
        for axis in model.KNOWN
        if axis in kept
    }
    assert {"events", "stages", "shards", "tasks"} <= set(measured)
    for axis, points_of_axis in measured.items():
        speed = model.speed_of(axis, points_of_axis)
        for point in points_of_axis:
            ratio = model.predicted_ms(axis, point.at, speed) / point.median
            assert 1 / model.FACTOR <= ratio <= model.FACTOR, (axis, point, ratio)
    assert model.section(measured) in (
        Path(__file__).with_name("LATEST.md").read_text(encoding="utf-8")
    )
