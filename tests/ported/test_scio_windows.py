"""Verbs about windows, panes and times, on data that is there from the start.

Originals: the section about windows of ``SCollectionTest.scala`` and all of
``WindowedSCollectionTest.scala``, both of scio-core; spotify/scio at 3b35141.

The original looks at values alone, or at nothing but that something came; so every test of windows
also says all panes. Windows and panes that the original casts to a class need no cast here, so the
two casts to the global window are one.
"""

from typing import Any

from beamlike import IntervalWindow, PaneInfo, Timing
from beamlike.scio import ScioContext, SCollection
from beamlike.testing import (
    be_empty,
    contain_in_any_order,
    element,
    emit_exactly,
    expect,
)

MINUTE = 60_000


def letters(sc: ScioContext) -> SCollection[str]:
    return sc.parallelize_timestamped("abcdef", range(6))


def on_time(value: Any, *window: Any) -> Any:
    return element(value, *window, timing="ON_TIME")


def test_a_collection_supports_with_fixed_windows(sc: ScioContext) -> None:
    r = letters(sc).with_fixed_windows(3).top(10).map(set)
    expect(r).to(emit_exactly(on_time(set("abc"), 0, 3), on_time(set("def"), 3, 6)))


def test_it_supports_with_sliding_windows(sc: ScioContext) -> None:
    r = letters(sc).with_sliding_windows(2, 2).top(10).map(set)
    expect(r).to(
        emit_exactly(on_time(set("ab"), 0, 2), on_time(set("cd"), 2, 4), on_time(set("ef"), 4, 6))
    )


def test_2745_it_does_not_fail_for_valid_values(sc: ScioContext) -> None:
    r = (
        letters(sc)
        .with_sliding_windows(size="24 hours", period="25 hours", offset="23 hours")
        .top(10)
        .map(set)
    )
    expect(r).not_to(be_empty)
    expect(r).to(emit_exactly(on_time(set("abcdef"), "1969-12-31 22:00:00", "1970-01-01 22:00:00")))


def test_it_supports_with_session_windows(sc: ScioContext) -> None:
    p = sc.parallelize_timestamped("abcde", [0, 5, 10, 44, 55])
    r = p.with_session_windows(10).top(10).map(set)
    expect(r).to(
        emit_exactly(on_time(set("abc"), 0, 20), on_time({"d"}, 44, 54), on_time({"e"}, 55, 65))
    )


def test_it_supports_with_global_window(sc: ScioContext) -> None:
    r = letters(sc).with_fixed_windows(3).with_global_window().top(10).map(set)
    expect(r).to(emit_exactly(on_time(set("abcdef"), "global")))


def test_it_supports_with_pane_info(sc: ScioContext) -> None:
    pane = PaneInfo(Timing.UNKNOWN, 0, 0, is_first=True, is_last=True)
    p = sc.parallelize_timestamped("abc", [1, 2, 3])
    r = p.with_pane_info().map(lambda pair: (pair[0], pair[1]))
    expect(r).to(
        emit_exactly(
            element(("a", pane), "global", timestamp=1),
            element(("b", pane), "global", timestamp=2),
            element(("c", pane), "global", timestamp=3),
        )
    )


def test_it_supports_with_timestamp(sc: ScioContext) -> None:
    p = sc.parallelize_timestamped("abc", [1, 2, 3])
    r = p.with_timestamp().map(lambda pair: (pair[0], pair[1]))
    expect(r).to(contain_in_any_order([("a", 1), ("b", 2), ("c", 3)]))


def text_of(window: Any) -> str:
    if isinstance(window, IntervalWindow):
        return f"IntervalWindow({window.start}, {window.end})"
    return f"GlobalWindow({window.max_timestamp})"


def test_it_supports_with_window(sc: ScioContext) -> None:
    timestamps = [1 * MINUTE, 2 * MINUTE, 3 * MINUTE]

    r = sc.parallelize_timestamped("abc", timestamps).with_window()
    texts = r.map(lambda pair: (pair[0], text_of(pair[1])))
    # By default it is the global window.
    w = "GlobalWindow(9223371950454775)"
    expect(texts).to(contain_in_any_order([("a", w), ("b", w), ("c", w)]))

    p = sc.parallelize_timestamped("abc", timestamps).with_fixed_windows("1 minute")
    texts = p.with_window().map(lambda pair: (pair[0], text_of(pair[1])))
    # Once there are windows it is one of them.
    ws = [text_of(IntervalWindow(t, t + MINUTE)) for t in timestamps]
    expect(texts).to(contain_in_any_order(zip("abc", ws, strict=True)))
    expect(p).to(
        emit_exactly(
            element("a", "00:01:00", "00:02:00", timestamp="00:01:00"),
            element("b", "00:02:00", "00:03:00", timestamp="00:02:00"),
            element("c", "00:03:00", "00:04:00", timestamp="00:03:00"),
        )
    )


def test_it_supports_timestamp_by(sc: ScioContext) -> None:
    p = sc.parallelize([1, 2, 3])
    r = p.timestamp_by(lambda it: it).with_timestamp().map(lambda pair: (pair[0], pair[1]))
    expect(r).to(contain_in_any_order([(1, 1), (2, 2), (3, 3)]))


def test_it_supports_timestamp_by_with_skew(sc: ScioContext) -> None:
    p = sc.parallelize([1, 2, 3])
    r = p.timestamp_by(lambda it: it, 1).with_timestamp().map(lambda pair: (pair[0], pair[1]))
    expect(r).to(contain_in_any_order([(1, 1), (2, 2), (3, 3)]))


def test_a_windowed_collection_supports_filter(sc: ScioContext) -> None:
    p = sc.parallelize_timestamped("abcd", [1, 2, 3, 4])
    r = (
        p.to_windowed()
        .filter(lambda it: it.timestamp % 2 == 0)
        .to_scollection()
        .with_timestamp()
        .map(lambda pair: (pair[0], pair[1]))
    )
    expect(r).to(contain_in_any_order([("b", 2), ("d", 4)]))


def test_it_supports_flat_map(sc: ScioContext) -> None:
    p = sc.parallelize_timestamped("ab", [1, 2])
    r = (
        p.to_windowed()
        .flat_map(lambda it: [it.with_value(it.value + "1"), it.with_value(it.value + "2")])
        .to_scollection()
        .with_timestamp()
        .map(lambda pair: (pair[0], pair[1]))
    )
    expect(r).to(contain_in_any_order([("a1", 1), ("a2", 1), ("b1", 2), ("b2", 2)]))


def test_it_supports_key_by(sc: ScioContext) -> None:
    p = sc.parallelize_timestamped("ab", [1, 2])
    r = p.to_windowed().key_by(lambda it: f"{it.value}{it.timestamp}").to_scollection()
    expect(r).to(
        emit_exactly(
            element(("a1", "a"), "global", timestamp=1),
            element(("b2", "b"), "global", timestamp=2),
        )
    )


def test_it_supports_map(sc: ScioContext) -> None:
    p = sc.parallelize_timestamped("ab", [1, 2])
    r = p.to_windowed().map(lambda it: it.with_value(f"{it.value}{it.timestamp}")).to_scollection()
    expect(r).to(
        emit_exactly(element("a1", "global", timestamp=1), element("b2", "global", timestamp=2))
    )
