"""Assertions about collections: which elements a matcher selects, and what a failure says."""

from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np
import pytest

from beamlike import SlidingWindows
from beamlike.api.pipelines.dofn import DoFn
from beamlike.api.pipelines.elements import Create, Map
from beamlike.api.pipelines.groups import GroupByKey
from beamlike.api.pipelines.pairs import WithKeys
from beamlike.api.pipelines.pipeline import PCollection
from beamlike.api.pipelines.windowing import WindowInto
from beamlike.testing import (
    TestPipeline,
    TimestampedValue,
    be_empty,
    contain_in_any_order,
    contain_in_any_order_at_time,
    contain_single_value,
    contain_single_value_at_time,
    contain_value,
    contain_value_at_time,
    dropped,
    early_pane,
    element,
    emit_exactly,
    equal_map_of,
    exist,
    expect,
    for_all,
    have_size,
    in_combined_non_late_panes,
    in_early_pane,
    in_final_pane,
    in_late_pane,
    in_on_time_pane,
    in_only_pane,
    in_window,
    late_pane,
    on_time_pane,
    satisfy,
    satisfy_single_value,
)
from tests.support.pipelines.counted_words import windowed_words, word_counts

FIRST = ("00:00:00", "00:01:00")


@pytest.fixture
def counts() -> Iterator[PCollection[tuple[str, int]]]:
    with TestPipeline() as pipeline:
        yield word_counts(pipeline)


def test_the_whole_output_of_a_grouping(counts: PCollection[Any]) -> None:
    expect(counts).to(
        emit_exactly(
            early_pane("foo", 2, *FIRST, is_last=False, step=1),
            on_time_pane("foo", 2, *FIRST, index=1, is_last=False, step=2),
            on_time_pane("bar", 1, *FIRST, is_last=False, step=2),
            late_pane("bar", 2, *FIRST, index=1, is_last=False, step=3),
            dropped(
                "foo", "foo", at="00:00:50", window=FIRST, reason="expired", missed_by="30s 1ms"
            ),
        )
    )


def test_should_and_should_not_are_the_same_verbs(counts: PCollection[Any]) -> None:
    expect(counts).should(in_late_pane(*FIRST, contain_value(("bar", 2))))
    expect(counts).should_not(in_late_pane(*FIRST, contain_value(("foo", 2))))


def test_elements_are_of_any_kind(counts: PCollection[Any]) -> None:
    words = counts | "Words alone" >> Map(lambda pair: pair[0])

    expect(words).to(contain_in_any_order(["foo", "foo", "bar", "bar"]))
    expect(words).to(in_late_pane(*FIRST, contain_single_value("bar")))
    expect(words).to(contain_value("bar"))
    expect(words).to(have_size(4))
    expect(words).to(for_all(lambda word: len(word) == 3))
    expect(words).to(exist(lambda word: word == "foo"))
    expect(words).to(satisfy(lambda every: sorted(every) == ["bar", "bar", "foo", "foo"]))
    expect(words).to(in_late_pane(*FIRST, satisfy_single_value(lambda word: word == "bar")))
    expect(words).not_to(contain_value("baz"))
    expect(words).to(
        emit_exactly(
            element("foo", *FIRST, timing="EARLY", is_last=False, step=1),
            element(
                "foo",
                *FIRST,
                timing="ON_TIME",
                index=1,
                is_last=False,
                nonspeculative_index=0,
                step=2,
            ),
            element("bar", *FIRST, timing="ON_TIME", is_last=False, step=2),
            element("bar", *FIRST, timing="LATE", index=1, is_last=False, step=3),
            dropped(
                "foo", "foo", at="00:00:50", window=FIRST, reason="expired", missed_by="30s 1ms"
            ),
        )
    )


def test_elements_that_never_met_a_grouping_are_in_the_only_pane_of_their_window() -> None:
    with TestPipeline() as pipeline:
        words = windowed_words(pipeline)

        expect(words).to(
            in_window(*FIRST, contain_in_any_order(["foo", "bar", "foo", "bar", "foo"]))
        )
        expect(words).to(in_only_pane(*FIRST, have_size(5)))
        expect(words).to(in_final_pane(*FIRST, have_size(5)))
        expect(words).to(in_combined_non_late_panes(*FIRST, have_size(5)))
        expect(words).to(in_early_pane(*FIRST, be_empty))
        expect(words).to(in_on_time_pane(*FIRST, be_empty))
        expect(words).to(in_late_pane(*FIRST, be_empty))


def test_the_whole_of_elements_that_never_met_a_grouping() -> None:
    with TestPipeline() as pipeline:
        expect(pipeline | Create([TimestampedValue(1, "00:00:05"), TimestampedValue(2, 7)])).to(
            emit_exactly(
                element(1, "global", timestamp="00:00:05"), element(2, "global", timestamp=7)
            )
        )


def test_an_element_counts_once_for_each_window_that_it_is_in() -> None:
    with TestPipeline() as pipeline:
        stamped = pipeline | Create([TimestampedValue("a", "00:00:30")])
        sliding = stamped | WindowInto(SlidingWindows("1 minute", "30 s"))

        expect(stamped).to(contain_single_value("a"))
        expect(sliding).to(contain_in_any_order(["a", "a"]))
        expect(sliding).to(in_window("00:00:00", "00:01:00", contain_single_value("a")))
        expect(sliding).to(in_window("00:00:30", "00:01:30", contain_single_value("a")))


def test_times_are_those_of_the_elements(counts: PCollection[Any]) -> None:
    end = "00:00:59.999"
    expect(counts).to(in_late_pane(*FIRST, contain_single_value_at_time(end, ("bar", 2))))
    expect(counts).to(
        in_on_time_pane(
            *FIRST, contain_in_any_order_at_time([(end, ("foo", 2)), (end, ("bar", 1))])
        )
    )
    expect(counts).not_to(in_late_pane(*FIRST, contain_value_at_time("00:00:40", ("bar", 2))))
    timed = expect(counts).with_timestamp()
    timed.to(in_late_pane(*FIRST, contain_single_value((("bar", 2), end))))
    timed.to(in_late_pane(*FIRST, contain_single_value((("bar", 2), 59_999))))
    timed.to(in_late_pane(*FIRST, contain_single_value_at_time(end, ("bar", 2))))


def test_a_collection_that_carries_its_times_reads_like_one_with_timestamps(
    counts: PCollection[Any],
) -> None:
    def with_timestamp(pair: Any, timestamp: int = DoFn.TimestampParam) -> tuple[Any, int]:
        return pair, timestamp

    timed = counts | "With timestamp" >> Map(with_timestamp)

    expect(timed).to(in_late_pane(*FIRST, contain_single_value_at_time(59_999, ("bar", 2))))
    expect(timed).to(in_late_pane(*FIRST, contain_single_value((("bar", 2), 59_999))))
    expect(timed).not_to(in_late_pane(*FIRST, contain_value_at_time(59_999, ("foo", 2))))
    expect(timed).not_to(in_late_pane(*FIRST, contain_value_at_time(60_000, ("bar", 2))))


def test_lists_of_a_grouping_are_compared_without_their_order() -> None:
    with TestPipeline() as pipeline:
        grouped = pipeline | Create([("a", 1), ("a", 2), ("b", 3)]) | GroupByKey()
        listed = grouped | "Tuples" >> Map(lambda pair: (pair[0], sorted(pair[1])))

        expect(grouped).to(contain_in_any_order([("a", [2, 1]), ("b", [3])]))
        expect(grouped).to(equal_map_of({"a": (2, 1), "b": [3]}))
        expect(listed).to(contain_value(("a", [1, 2])))
        expect(listed).not_to(contain_value(("a", [2, 1])))


def test_a_test_can_say_what_is_the_same() -> None:
    with TestPipeline() as pipeline:
        names = expect(pipeline | Create(["Joe", "Ben"]))

        names.with_equality(lambda want, got: want.lower() == got.lower()).to(
            contain_in_any_order(["ben", "joe"])
        )
        names.with_equality(lambda want, got: want.lower() == got.lower()).to(contain_value("joe"))
        names.not_to(contain_value("joe"))


@attrs.frozen(eq=False)
class Record:
    """Equal to others of the same id, whatever else they say."""

    id: int
    note: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and self.id == other.id

    def __hash__(self) -> int:
        return self.id


def test_values_are_equal_if_their_class_says_so() -> None:
    same, other = Record(1, "%2"), Record(2, "%1")
    with TestPipeline() as pipeline:
        records = pipeline | Create([Record(1, "%1")])
        by_name = records | WithKeys("joe")

        for matcher in (
            contain_value,
            contain_single_value,
            lambda record: contain_in_any_order([record]),
            lambda record: satisfy(lambda every: record in every),
        ):
            expect(records).to(matcher(same))
            expect(records).not_to(matcher(other))
        expect(by_name).to(equal_map_of({"joe": same}))
        expect(by_name).not_to(equal_map_of({"joe": other}))


def test_arrays_are_the_same_by_content() -> None:
    with TestPipeline() as pipeline:
        arrays = pipeline | Create([("a", np.array([1, 2])), ("b", np.array([3]))])

        expect(arrays).to(contain_in_any_order([("b", np.array([3])), ("a", np.array([1, 2]))]))
        expect(arrays).not_to(contain_value(("b", np.array([3, 3]))))
        expect(arrays).not_to(contain_value(("b", 3)))
