"""Who decides that an element is too late: its own window, the merged one, or its timestamp."""

from typing import Any

import pytest

import beamlike as bl
from beamlike.machine.events import Drop
from beamlike.model.windows import IntervalWindow
from beamlike.testing import TestStream, dropped, emit_exactly, on_time_pane

MINUTES = bl.FixedWindows("1 minute")

# A live session [12:00, 22:00), a watermark at 13:00, and an element of 03:00: its own window
# [03:00, 13:00) has just expired, and the live session overlaps it.
BRIDGE = (
    TestStream()
    .add_elements_at_time("00:12:00", ("joe", "checkout"))
    .advance_watermark_to("00:13:00")
    .add_elements_at_time("00:03:00", ("joe", "add to cart"))
    .advance_watermark_to_infinity()
)


def test_the_element_s_own_window_decides_as_in_beam() -> None:
    BRIDGE.run(window=bl.Sessions("10 minutes")).should(
        emit_exactly(
            dropped(
                "joe",
                "add to cart",
                at="00:03:00",
                window=("00:03:00", "00:13:00"),
                reason="expired",
                missed_by="1 ms",
            ),
            on_time_pane("joe", ["checkout"], "00:12:00", "00:22:00", is_last=True),
        )
    )


def test_the_merged_window_takes_in_what_its_own_window_would_not() -> None:
    BRIDGE.run(window=bl.Sessions("10 minutes"), late_check="merged").should(
        emit_exactly(
            on_time_pane("joe", ["checkout", "add to cart"], "00:03:00", "00:22:00", is_last=True)
        )
    )


@pytest.mark.parametrize("late_check", ["assigned", "merged"])
def test_without_a_live_session_the_merged_window_is_its_own(late_check: str) -> None:
    stream = (
        TestStream()
        .advance_watermark_to("00:13:00")
        .add_elements_at_time("00:02:59.999", ("joe", "a"), ("joe", "b"))
        .advance_watermark_to_infinity()
    )
    window: dict[str, Any] = {"at": "00:02:59.999", "window": ("00:02:59.999", "00:12:59.999")}

    stream.run(window=bl.Sessions("10 minutes"), late_check=late_check).should(
        emit_exactly(
            dropped("joe", "a", reason="expired", missed_by="2 ms", **window),
            dropped("joe", "b", reason="expired", missed_by="2 ms", **window),
        )
    )


def test_expired_elements_of_a_bundle_that_only_merge_with_each_other_stay_expired() -> None:
    stream = (
        TestStream()
        .advance_watermark_to("00:13:00")
        .add_elements_at_time("00:02:00", ("joe", "a"))
        .add_elements_at_time("00:02:30", ("joe", "b"))
        .advance_watermark_to_infinity()
    )

    results = stream.run(window=bl.Sessions("10 minutes"), late_check="merged")

    assert [output.effect.missed_by for output in results.drops] == [60_001, 30_001]  # type: ignore[union-attr]
    assert results.panes == ()


def test_the_timestamp_decides_although_the_window_is_open() -> None:
    stream = (
        TestStream()
        .advance_watermark_to("00:00:30")
        .add_elements_at_time("00:00:20", ("k", "at the limit"))
        .add_elements_at_time("00:00:19.999", ("k", "a millisecond before"))
        .advance_watermark_to_infinity()
    )

    stream.run(
        window=MINUTES,
        allowed_lateness="10 seconds",
        accumulation="discarding",
        late_check="element",
    ).should(
        emit_exactly(
            dropped(
                "k",
                "a millisecond before",
                at="00:00:19.999",
                window=("00:00:00", "00:01:00"),
                reason="expired",
                missed_by="1 ms",
            ),
            on_time_pane("k", ["at the limit"], "00:00:00", "00:01:00", is_last=True),
        )
    )


def test_a_drop_names_the_session_that_it_nearly_joined() -> None:
    (drop,) = BRIDGE.run(window=bl.Sessions("10 minutes")).drops

    assert isinstance(drop.effect, Drop)
    assert drop.effect.nearest_session == IntervalWindow(180_000, 1_320_000)


def test_a_drop_with_no_live_session_near_it_nearly_joined_none() -> None:
    stream = (
        TestStream()
        .add_elements_at_time("00:13:00", ("joe", "close app"))
        .advance_watermark_to("00:13:00")
        .add_elements_at_time("00:03:00", ("joe", "touches, no more"))
        .advance_watermark_to_infinity()
    )

    (drop,) = stream.run(window=bl.Sessions("10 minutes")).drops

    assert isinstance(drop.effect, Drop)
    assert drop.effect.nearest_session is None

    (drop,) = stream.run(window=bl.Sessions("10 minutes", merge_touching=True)).drops

    assert isinstance(drop.effect, Drop)
    assert drop.effect.nearest_session == IntervalWindow(180_000, 1_380_000)
