"""Functions of the user's that raise: what is reported, what is dropped, and that no more is."""

import pickle

import attrs
import pytest

import beamlike as bl
from beamlike.errors import UserFunctionError, WindowError, WindowingError
from beamlike.machine.events import (
    AdvanceWatermark,
    Bundle,
    Drop,
    DropReason,
    Element,
    Lifted,
    Merged,
)
from beamlike.machine.reference.state import KeyState
from beamlike.machine.reference.step import Grouping
from beamlike.machine.ungrouped import PassThrough
from beamlike.model.combine import CollectByTimestamp, Stamped, Sum, Together
from beamlike.model.time import MAX_TIMESTAMP
from beamlike.runtime.memory import MemoryStage, run_in_memory
from beamlike.runtime.script import Arrive

END = AdvanceWatermark(MAX_TIMESTAMP)
TEN = bl.WindowingStrategy(bl.FixedWindows(10))
SESSIONS = bl.WindowingStrategy(bl.Sessions(10))
EACH = bl.Repeatedly(bl.AfterCount(1))


@attrs.frozen
class Picky(CollectByTimestamp):
    """Collects, and raises at the methods named when it meets the values named."""

    methods: tuple[str, ...]
    values: tuple[int, ...] = (5,)

    def check(self, method, accumulator):
        found = [e.value for e in accumulator if e.value in self.values]
        if method in self.methods and found:
            raise ValueError(f"no {found}")
        return accumulator

    def add(self, accumulator, values, timestamps):
        added = self.check("add", tuple(map(Stamped, values, timestamps)))
        return super().merge(accumulator, added)

    def merge(self, first, second):
        return super().merge(first, self.check("merge", second))

    def compact(self, accumulator):
        return self.check("compact", accumulator)

    def extract(self, accumulator):
        return super().extract(self.check("extract", accumulator))

    def __str__(self):
        return "Picky()"


def bundle(*times):
    return Arrive(tuple(("k", Element(time, time)) for time in times))


def effects_of(strategy, combine, *steps):
    run = run_in_memory(Grouping(strategy, combine, "drop"), steps)
    return [output.effect for output in run.outputs]


# -- reported --------------------------------------------------------------------------------


def refused(strategy, combine, *steps):
    with pytest.raises(UserFunctionError) as error:
        run_in_memory(Grouping(strategy, combine), steps)
    return error.value


@pytest.mark.parametrize("method", ["add", "compact"])
def test_an_element_that_cannot_be_added_is_reported_with_its_key_and_window(method):
    error = refused(TEN, Picky((method,)), bundle(4, 5, 6))
    assert str(error) == (
        f"Picky().{method} raised ValueError: no [5]; it was called for the element 5 at "
        "00:00:00.005 (5 ms), window [00:00:00, 00:00:00.010), key 'k'; mend the function, or "
        'leave out what it cannot take with on_error="drop"'
    )
    assert isinstance(error.__cause__, ValueError)


def gap_of(value):
    if value == 5:
        raise KeyError("five")
    return 10


def test_an_element_that_has_no_window_is_reported():
    error = refused(bl.WindowingStrategy(bl.Sessions(gap_of)), Sum(), bundle(5))
    assert str(error) == (
        "Sessions(gap_of).assign raised KeyError: 'five'; it was called for the element 5 at "
        "00:00:00.005 (5 ms), key 'k'; mend the function, or leave out what it cannot take with "
        'on_error="drop"'
    )


def test_an_error_of_beamlike_s_own_is_a_failure_of_the_function_that_caused_it():
    error = refused(bl.WindowingStrategy(bl.Sessions(lambda value: "soon")), Sum(), bundle(5))
    assert isinstance(error.__cause__, WindowError)
    assert "raised WindowError: the gap of a session must be a duration" in str(error)


def test_windows_that_cannot_be_merged_are_reported_with_the_element_that_joins_them():
    error = refused(SESSIONS, Picky(("merge",)), bundle(-6), bundle(5), bundle(0))
    assert str(error) == (
        "Picky().merge raised ValueError: no [5]; it was called for the element 0 at 00:00:00 "
        "(0 ms), window [1969-12-31 23:59:59.994, 00:00:00.015), key 'k'; mend the function, or "
        'leave out what it cannot take with on_error="drop"'
    )


def test_a_value_that_cannot_be_had_is_reported_with_the_window():
    error = refused(TEN, Picky(("extract",)), bundle(5), END)
    assert str(error) == (
        "Picky().extract raised ValueError: no [5]; it was called for window "
        "[00:00:00, 00:00:00.010), key 'k'; mend the function, or leave out what it cannot take "
        'with on_error="drop"'
    )


def test_several_aggregates_are_called_by_their_names():
    both = Together({"total": (Sum(), 0), "all": (Picky(("add",), ((5,),)), None)})
    error = refused(TEN, both, Arrive((("k", Element((5,), 5)),)))
    assert error.function == "add of the aggregates total, all"


def test_the_machine_does_not_know_the_key_and_takes_it_from_its_host():
    with pytest.raises(UserFunctionError) as raised:
        Grouping(TEN, Picky(("add",))).step(KeyState(), Bundle((Element(5, 5),)))
    nameless = raised.value
    assert nameless.key is None
    assert "key" not in str(nameless)
    named = nameless.of_key(("joe", 3))
    assert "window [00:00:00, 00:00:00.010), key ('joe', 3); mend" in str(named)
    assert named.__cause__ is nameless.__cause__


def test_the_error_survives_the_way_from_another_process():
    error = refused(TEN, Picky(("add",)), bundle(5))
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_a_step_that_is_reported_has_not_happened_to_any_key():
    stage = MemoryStage(Grouping(bl.WindowingStrategy(bl.FixedWindows(10), EACH), Picky(("add",))))
    stage.play(Arrive((("a", Element(1, 1)),)))
    before = stage.run
    with pytest.raises(UserFunctionError):
        stage.play(Arrive((("a", Element(2, 2)), ("b", Element(5, 5)))))
    assert stage.run == before
    (output,) = stage.play(Arrive((("a", Element(3, 3)),)))
    assert output.effect.value == [3]


def test_there_is_no_third_choice():
    with pytest.raises(WindowingError) as error:
        Grouping(TEN, Sum(), "ignore")
    assert str(error.value) == "on_error must be one of 'fail', 'drop', got 'ignore'"


# -- dropped ---------------------------------------------------------------------------------


def failed(at, window, error):
    return Drop(Element(at, at), window, DropReason.FAILED, error=error)


@pytest.mark.parametrize("method", ["add", "compact"])
def test_only_the_culprits_of_a_bundle_are_dropped(play, method):
    steps = [[4, 5, 6], [5], END]
    assert play(TEN, *steps, combine=Picky((method,)), on_error="drop") == [
        "0 [0,10) dropped 5, failed",
        "1 [0,10) dropped 5, failed",
        "2 [0,10) ON_TIME #0/0 first last [4, 6] @9",
    ]


def test_a_drop_says_what_was_raised_and_where_the_watermark_stood():
    _, drop = effects_of(TEN, Picky(("add",)), bundle(15), AdvanceWatermark(20), bundle(25, 5))
    assert drop.reason is DropReason.EXPIRED
    (drop,) = effects_of(TEN, Picky(("add",)), AdvanceWatermark(3), bundle(5))
    assert (drop.error, drop.watermark) == ("Picky().add raised ValueError: no [5]", 3)


def test_an_element_without_a_window_is_dropped_without_one():
    drop, pane = effects_of(bl.WindowingStrategy(bl.Sessions(gap_of)), Sum(), bundle(5, 6), END)
    assert drop == Drop(Element(5, 5), None, DropReason.FAILED)
    assert drop.error == "Sessions(gap_of).assign raised KeyError: 'five'"
    assert pane.value == 6


def test_a_stage_that_only_assigns_windows_drops_it_too():
    machine = PassThrough(bl.Sessions(gap_of), "drop")
    updates = []
    state = KeyState.unseen(7, 0)
    _, (drop, pane) = machine.step(state, Bundle((Element(5, 5), Element(6, 6))), updates.append)
    assert (drop, drop.watermark) == (Drop(Element(5, 5), None, DropReason.FAILED), 7)
    assert updates == [drop]
    assert pane.window == bl.IntervalWindow(6, 16)
    with pytest.raises(UserFunctionError, match="the element 5 at"):
        PassThrough(bl.Sessions(gap_of)).step(state, Bundle((Element(5, 5),)))


def test_in_each_of_its_windows_an_element_stands_for_itself(play):
    class PickyLate(Picky):
        def add(self, accumulator, values, timestamps):
            if accumulator:
                self.check("add", list(map(Stamped, values, timestamps)))
            return CollectByTimestamp.add(self, accumulator, values, timestamps)

    strategy = bl.WindowingStrategy(bl.SlidingWindows(10, 5))
    # The window [0, 10) has 1 already and cannot take 5; [5, 15) can, as its first element.
    assert play(strategy, [1], [5], END, combine=PickyLate(("add",)), on_error="drop") == [
        "1 [0,10) dropped 5, failed",
        "2 [-5,5) ON_TIME #0/0 first last [1] @4",
        "2 [0,10) ON_TIME #0/0 first last [1] @9",
        "2 [5,15) ON_TIME #0/0 first last [5] @14",
    ]


def test_what_a_dropped_element_would_have_joined_stays_apart(play):
    # 9 would bridge [0, 10) and [18, 28), but it cannot be added.
    picky = Picky(("add",), (9,))
    assert play(SESSIONS, [0, 18], [9, 40], END, combine=picky, on_error="drop") == [
        "1 [9,19) dropped 9, failed",
        "2 [0,10) ON_TIME #0/0 first last [0] @9",
        "2 [18,28) ON_TIME #0/0 first last [18] @27",
        "2 [40,50) ON_TIME #0/0 first last [40] @49",
    ]


def test_the_story_has_no_merging_that_was_undone():
    machine = Grouping(SESSIONS, Picky(("add",), (9,)), "drop")
    run = run_in_memory(machine, (bundle(0, 18), bundle(9)))
    assert [shown for shown in run.trace if isinstance(shown.happening, Merged)] == []


def test_the_elements_that_would_join_sessions_that_cannot_be_merged_are_dropped(play):
    picky = Picky(("merge",), (18,))
    strategy = bl.WindowingStrategy(bl.Sessions(10), bl.Never())
    # 9 and 12 would make one of [0, 10) and [18, 28); 2 belongs to the same plan; 40 does not.
    assert play(strategy, [0, 18], [9, 2, 40], [20], END, combine=picky, on_error="drop") == [
        "1 [9,19) dropped 9, failed",
        "1 [2,12) dropped 2, failed",
        "3 [0,10) ON_TIME #0/0 first last [0] @9",
        "3 [18,30) ON_TIME #0/0 first last [18, 20] @29",
        "3 [40,50) ON_TIME #0/0 first last [40] @49",
    ]


class Touchy(bl.Sessions):
    """Sessions that cannot be merged when a window starts at 5."""

    def merge(self, windows):
        windows = list(windows)
        if any(window.start == 5 for window in windows):
            raise ValueError("no [5]")
        return super().merge(windows)


def test_the_elements_whose_windows_the_plan_cannot_take_are_dropped(play):
    assert play(bl.WindowingStrategy(Touchy(10)), [0], [5, 7, 5], END, on_error="drop") == [
        "1 [5,15) dropped 5, failed",
        "1 [5,15) dropped 5, failed",
        "2 [0,17) ON_TIME #0/0 first last [0, 7] @16",
    ]


def test_a_plan_that_no_element_spoils_alone_takes_them_all(play):
    class Crowded(bl.Sessions):
        def merge(self, windows):
            windows = list(windows)
            if len(windows) > 2:
                raise ValueError("too many")
            return super().merge(windows)

    assert play(bl.WindowingStrategy(Crowded(10)), [0], [5, 7], END, on_error="drop") == [
        "1 [5,15) dropped 5, failed",
        "1 [7,17) dropped 7, failed",
        "2 [0,10) ON_TIME #0/0 first last [0] @9",
    ]
    error = refused(bl.WindowingStrategy(Crowded(10)), Sum(), bundle(0), bundle(5, 7))
    assert "too many; it was called for 2 elements together, key 'k'" in str(error)


def test_a_late_element_is_dropped_as_late_though_the_plan_fails_for_it():
    strategy = bl.WindowingStrategy(Touchy(10))
    _, drop = effects_of(strategy, Sum(), bundle(20), AdvanceWatermark(30), bundle(5))
    assert drop == Drop(Element(5, 5), bl.IntervalWindow(5, 15), DropReason.EXPIRED, 16)


def test_combined_elements_are_dropped_together():
    item = Lifted((Stamped(4, 4), Stamped(5, 5)), 2, bl.IntervalWindow(0, 10), 5)
    arrive = Arrive((("k", Element(1, 1)), ("k", item)))
    drop, pane = effects_of(TEN, Picky(("merge",)), arrive, END)
    assert drop == Drop(item, item.window, DropReason.FAILED, count=2)
    assert pane.value == [1]
    error = refused(TEN, Picky(("merge",)), arrive)
    together = "called for 2 elements combined before, the last one at 00:00:00.005 (5 ms)"
    assert together in str(error)


def test_elements_that_only_fail_together_get_in_one_after_the_other(play):
    class OneByOne(CollectByTimestamp):
        def add(self, accumulator, values, timestamps):
            if len(values) > 1:
                raise ValueError("one by one")
            return super().add(accumulator, values, timestamps)

    assert play(TEN, [1, 2], END, combine=OneByOne(), on_error="drop") == [
        "1 [0,10) ON_TIME #0/0 first last [1, 2] @9"
    ]
    assert "called for 2 elements together" in str(refused(TEN, OneByOne(), bundle(1, 2)))


def test_an_aggregation_that_cannot_begin_takes_nothing():
    class Unborn(Sum):
        def create(self):
            raise ValueError("not today")

    drops = effects_of(TEN, Unborn(), bundle(1, 2), END)
    assert [drop.error for drop in drops] == ["Unborn().create raised ValueError: not today"] * 2


# -- panes that cannot be made ---------------------------------------------------------------

EARLY = bl.WindowingStrategy(
    bl.FixedWindows(10), bl.AfterWatermark(early=bl.AfterCount(1)), "discarding"
)


@attrs.frozen
class Unsure(CollectByTimestamp):
    """Raises until it is given some trust."""

    trust: list[str] = attrs.field(factory=list)

    def extract(self, accumulator):
        if not self.trust:
            raise ValueError("unsure")
        return super().extract(accumulator)


def test_a_pane_that_cannot_be_made_leaves_its_elements_to_the_next_one():
    combine = Unsure()
    stage = MemoryStage(Grouping(EARLY, combine, "drop"))
    assert stage.play(bundle(1, 2)) == ()
    combine.trust.append("now")
    (output,) = stage.play(bundle(3))
    assert (output.effect.value, output.effect.info.index) == ([1, 2, 3], 0)


def test_elements_whose_window_cannot_make_its_last_pane_are_dropped(play):
    assert play(EARLY, [1, 5], END, combine=Picky(("extract",)), on_error="drop") == [
        "1 [0,10) dropped 2 elements, failed"
    ]


def test_such_a_drop_has_the_window_and_no_element():
    (drop,) = effects_of(EARLY, Picky(("extract",)), bundle(1, 5), END)
    assert drop == Drop(None, bl.IntervalWindow(0, 10), DropReason.FAILED, count=2)
    assert drop.error == "Picky().extract raised ValueError: no [5]"


def test_what_stands_is_not_withdrawn_for_a_pane_that_cannot_be_made(play):
    strategy = bl.WindowingStrategy(bl.FixedWindows(10), EACH, "retracting")
    assert play(strategy, [1], [5, 6], END, combine=Picky(("extract",)), on_error="drop") == [
        "0 [0,10) EARLY #0/-1 first [1] @9",
        "2 [0,10) dropped 2 elements, failed",
    ]


def test_a_session_at_rest_keeps_what_could_not_come_out_for_as_long_as_it_is_kept():
    combine = Unsure()
    strategy = bl.WindowingStrategy(bl.Sessions(10), late_check="retain")
    stage = MemoryStage(Grouping(strategy, combine, "drop"))
    stage.play(bundle(0))
    assert stage.play(AdvanceWatermark(18)) == ()
    stage.play(bundle(9))
    combine.trust.append("now")
    (output,) = stage.play(END)
    assert output.effect.value == [0, 9]


def test_a_session_at_rest_tries_once_more_before_it_is_forgotten():
    combine = Unsure()
    stage = MemoryStage(
        Grouping(bl.WindowingStrategy(bl.Sessions(10), late_check="retain"), combine, "drop")
    )
    stage.play(bundle(0))
    stage.play(AdvanceWatermark(12))
    combine.trust.append("now")
    (output,) = stage.play(AdvanceWatermark(19))
    assert (output.effect.value, output.effect.info.is_last) == ([0], True)


# -- accumulators that cannot be begun anew --------------------------------------------------

DISCARDING = bl.WindowingStrategy(bl.FixedWindows(10), EACH, "discarding")


@attrs.frozen
class OutOfAccumulators(CollectByTimestamp):
    """Raises at each `create` but those that are named, counted from 1."""

    good: tuple[int, ...]
    calls: list[int] = attrs.field(factory=list)

    def create(self):
        self.calls.append(len(self.calls) + 1)
        if self.calls[-1] not in self.good:
            raise ValueError("none left")
        return super().create()

    def __str__(self):
        return "OutOfAccumulators()"


def test_a_window_that_cannot_begin_anew_after_a_pane_is_reported():
    error = refused(DISCARDING, OutOfAccumulators((1,)), bundle(5))
    assert str(error) == (
        "OutOfAccumulators().create raised ValueError: none left; it was called for window "
        "[00:00:00, 00:00:00.010), key 'k'; mend the function, or leave out what it cannot take "
        'with on_error="drop"'
    )
    assert isinstance(error.__cause__, ValueError)


def test_the_elements_of_such_a_pane_wait_for_the_next_one(play):
    combine = OutOfAccumulators((1, 3, 4))
    assert play(DISCARDING, [5], [6], [7], END, combine=combine, on_error="drop") == [
        "1 [0,10) EARLY #0/-1 first [5, 6] @9",
        "2 [0,10) EARLY #1/-1 [7] @9",
        "3 [0,10) ON_TIME #2/0 last [] @9",
    ]


def test_a_window_that_is_forgotten_after_its_pane_needs_no_other_accumulator(play):
    combine = OutOfAccumulators((1,))
    assert play(DISCARDING, [5], END, combine=combine, on_error="drop") == [
        "1 [0,10) ON_TIME #0/0 first last [5] @9"
    ]


def test_a_trigger_whose_last_pane_cannot_be_made_has_not_finished(play):
    once = bl.WindowingStrategy(bl.FixedWindows(10), bl.AfterCount(1), "accumulating")
    combine = OutOfAccumulators((1, 3))
    assert play(once, [5], [6], [7], END, combine=combine, on_error="drop") == [
        "1 [0,10) EARLY #0/-1 first last [5, 6] @9",
        "2 [0,10) dropped 7, closed",
    ]
    error = refused(once, OutOfAccumulators((1,)), bundle(5))
    assert error.function == "OutOfAccumulators().create"


def test_a_session_at_rest_that_cannot_begin_anew_keeps_its_elements_to_the_end(play):
    strategy = bl.WindowingStrategy(bl.Sessions(10), late_check="retain")
    steps = ([0], AdvanceWatermark(18), END)
    assert play(strategy, *steps, combine=OutOfAccumulators((1,)), on_error="drop") == [
        "2 [0,10) ON_TIME #0/0 first last [0] @9"
    ]
    error = refused(strategy, OutOfAccumulators((1,)), bundle(0), AdvanceWatermark(18))
    assert error.function == "OutOfAccumulators().create"
