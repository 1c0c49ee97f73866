"""Transforms that take elements one by one: what comes out, when, where and of which pane."""

from collections.abc import Iterable
from typing import Any

import pytest

import beamlike.beam as beam
from beamlike.errors import PipelineError, TransformError
from beamlike.model.panes import NO_FIRING
from beamlike.model.time import MIN_TIMESTAMP
from beamlike.model.windows import GLOBAL_WINDOW, IntervalWindow
from beamlike.testing import TestStream
from tests.support.pipelines.results_of_runs import values

MINUTE = 60_000


def created(*elements: Any) -> beam.PCollection[Any]:
    return beam.Pipeline() | beam.Create(elements)


def at(value: Any, instant: Any) -> Any:
    return beam.TimestampedValue(value, instant)


def test_created_elements_happen_at_the_beginning_of_time_unless_they_say_when():
    pcoll = created("a", at("b", "00:00:10"))
    (first, second) = (came.element for came in pcoll.pipeline.run().out_of(pcoll.edge))
    assert (first.value, first.timestamp, first.windows) == ("a", MIN_TIMESTAMP, (GLOBAL_WINDOW,))
    assert (second.value, second.timestamp, second.pane) == ("b", 10_000, NO_FIRING)


def test_an_impulse_is_one_element():
    assert values(beam.Pipeline() | beam.Impulse()) == [b""]


def test_functions_are_given_arguments_and_ask_for_more_by_their_defaults():
    def shown(word: str, mark: str, *, at: Any = beam.DoFn.TimestampParam, end: str) -> str:
        return f"{word}{mark}{at}{end}"

    assert values(created(at("a", 1)) | beam.Map(shown, "@", end="!")) == ["a@Timestamp(1)!"]


def test_a_function_that_asks_for_its_window_is_called_once_for_each():
    def start(_: str, window: Any = beam.DoFn.WindowParam) -> beam.Timestamp:
        return window.start  # type: ignore[no-any-return]

    windowed = created(at("a", 330)) | beam.WindowInto(beam.SlidingWindows(120, 60))
    assert sorted(values(windowed | beam.Map(start))) == [beam.Timestamp(240), beam.Timestamp(300)]


def test_elements_of_several_windows_stay_together_while_no_one_looks():
    windowed = created(at("a", "00:05:30")) | beam.WindowInto(
        beam.SlidingWindows("2 minutes", "1 minute")
    )
    upper = windowed | beam.Map(str.upper)
    (came,) = upper.pipeline.run().out_of(upper.edge)
    assert came.element.value == "A"
    assert set(came.element.windows) == {
        IntervalWindow(4 * MINUTE, 6 * MINUTE),
        IntervalWindow(5 * MINUTE, 7 * MINUTE),
    }


def test_filter_flat_map_and_functions_of_the_parts_of_a_tuple():
    words = created("a bb", "", "ccc") | beam.FlatMap(str.split)
    assert values(words | beam.Filter(lambda word: len(word) > 1)) == ["bb", "ccc"]
    pairs = created(("a", 2), ("b", 0))
    assert values(pairs | beam.MapTuple(lambda key, n: key * n)) == ["aa", ""]
    assert values(pairs | beam.FlatMapTuple(lambda key, n: [key] * n)) == ["a", "a"]
    assert values(pairs | "I" >> beam.MapTuple(lambda k, n, ts=beam.DoFn.TimestampParam: ts)) == [
        beam.utils.timestamp.MIN_TIMESTAMP,
        beam.utils.timestamp.MIN_TIMESTAMP,
    ]


def test_pairs_are_made_taken_apart_and_turned_round():
    words = created("a", "bb")
    keyed = words | beam.WithKeys(len)
    assert values(keyed) == [(1, "a"), (2, "bb")]
    assert values(words | "One" >> beam.WithKeys("k")) == [("k", "a"), ("k", "bb")]
    assert values(keyed | beam.Keys()) == [1, 2]
    assert values(keyed | beam.Values()) == ["a", "bb"]
    assert values(keyed | beam.KvSwap()) == [("a", 1), ("bb", 2)]
    with pytest.raises(TransformError, match="'KV/Keys' raised TypeError: pairs of key and value"):
        values(created("a") | "KV" >> beam.Keys())


def test_a_partition_takes_a_collection_apart_and_loses_nothing():
    numbers = created(*range(6))
    rest = numbers | beam.Partition(lambda n, parts, by: (n // by) % parts, 3, 2)
    assert [values(part) for part in rest] == [[0, 1], [2, 3], [4, 5]]
    small, large = numbers | "Size" >> beam.Partition(lambda n, parts: n > 3, 2)
    assert (values(small), values(large)) == ([0, 1, 2, 3], [4, 5])


def test_a_partition_that_is_none_names_the_element_and_the_parts():
    parts = created(7) | beam.Partition(lambda n, parts: n, 2)
    with pytest.raises(PipelineError, match=r"put 7 into the part 7, and its parts are 0 to 1"):
        values(parts[0])
    with pytest.raises(PipelineError, match="needs 1 part or more, got 0"):
        beam.Partition(lambda n, parts: 0, 0)


class Sorted(beam.DoFn[int, int]):
    """Says what is called when."""

    calls: list[str]

    def __init__(self) -> None:
        self.calls = []

    def setup(self) -> None:
        self.calls.append("setup")

    def start_bundle(self) -> None:
        self.calls.append("start")

    def process(self, element: int):  # type: ignore[override, no-untyped-def]
        self.calls.append(f"process {element}")
        if element % 2:
            yield beam.TaggedOutput("odd", element)
        else:
            yield element

    def finish_bundle(self):  # type: ignore[override, no-untyped-def]
        self.calls.append("finish")
        yield beam.TaggedOutput("odd", beam.WindowedValue(-1, 5))
        yield beam.WindowedValue(-2, 6)

    def teardown(self) -> None:
        self.calls.append("teardown")


def test_a_do_fn_lives_from_setup_to_teardown_with_bundles_in_between():
    pipeline, fn = beam.Pipeline(), Sorted()
    stream = (
        TestStream().add_elements(1, 2).advance_watermark_to("00:01:00").add_elements(3)
    ).advance_watermark_to_infinity()
    outputs = pipeline | stream | beam.ParDo(fn).with_outputs("odd", main="even")
    even, odd = outputs
    result = pipeline.run()
    assert fn.calls == [
        *("setup", "start", "process 1", "process 2", "finish"),
        *("start", "process 3", "finish", "teardown"),
    ]
    assert [it.element.value for it in result.out_of(even.edge)] == [2, -2, -2]
    assert [it.element.value for it in result.out_of(odd.edge)] == [1, -1, 3, -1]
    assert odd.edge == outputs.odd.edge == outputs["odd"].edge


def test_teardown_comes_also_when_a_function_fails():
    class Failing(Sorted):
        def process(self, element: int):  # type: ignore[no-untyped-def]
            raise ValueError("no")

    fn = Failing()
    with pytest.raises(TransformError, match=r"'ParDo\(Failing\)' raised ValueError: no for 1 at"):
        values(created(1) | beam.ParDo(fn))
    assert fn.calls == ["setup", "start", "teardown"]


def test_an_output_without_a_name_that_was_declared_is_refused():
    with pytest.raises(PipelineError, match=r"has no output 'odd'; its outputs are: none"):
        values(created(1) | beam.ParDo(Sorted()))


def test_with_outputs_of_no_name_takes_any_name():
    outputs = created(1, 2) | beam.ParDo(Sorted()).with_outputs()
    assert values(outputs.odd) == [1, -1]
    assert values(outputs[None]) == [2, -2]
    declared = created(1, 2) | beam.ParDo(Sorted()).with_outputs("odd")
    with pytest.raises(PipelineError, match="there is no output 'even'; the outputs are 'odd'"):
        _ = declared.even


def test_what_is_no_list_of_outputs_is_refused():
    with pytest.raises(PipelineError, match="return a list of what comes out, or yield it"):
        values(created(1) | beam.FlatMap(lambda _: 3))


def test_a_function_may_list_a_text_or_a_mapping_and_a_do_fn_may_not():
    assert values(created("to") | beam.FlatMap()) == ["t", "o"]
    assert values(created(1) | beam.FlatMap(lambda _: {"a": 1, "b": 2})) == ["a", "b"]

    class Text(beam.DoFn[Any, Any]):
        def process(self, element: Any, *args: Any, **kwargs: Any) -> Any:
            return element

    for answer in ("to", b"to", {"a": 1}):
        with pytest.raises(TypeError, match=r"is not allowed, got .*; return \[\.\.\.\] around it"):
            values(created(answer) | beam.ParDo(Text()))


def test_timestamps_move_on_freely():
    moved = created("00:00:10") | beam.WithTimestamps(lambda text: text)
    (came,) = moved.pipeline.run().out_of(moved.edge)
    assert (came.element.value, came.element.timestamp) == ("00:00:10", 10_000)


class Strict(beam.DoFn[str, str]):
    """Moves an element back by a second, and allows no skew, as in Beam Java."""

    allowed_timestamp_skew = 0

    def process(self, element: str):  # type: ignore[override, no-untyped-def]
        yield at(element, "00:00:59")


class Lenient(beam.DoFn[str, str]):
    """Moves an element back by a second."""

    def process(self, element: str):  # type: ignore[override, no-untyped-def]
        yield at(element, "00:00:59")


@pytest.mark.parametrize(
    "back", [beam.WithTimestamps(lambda _: "00:00:59"), beam.ParDo(Strict())], ids=str
)
def test_a_timestamp_is_not_moved_back_where_a_skew_is_given(back: Any):
    with pytest.raises(PipelineError, match=r"no earlier than .* input, 00:01:00, minus .* 0ms"):
        values(created(at("a", "00:01:00")) | back)


@pytest.mark.parametrize(
    "back",
    [
        beam.Map(lambda x: beam.TimestampedValue(x, "00:00:59")),
        beam.FlatMap(lambda x: [beam.TimestampedValue(x, "00:00:59")]),
        beam.Map(lambda x: beam.WindowedValue(x, 59, [beam.GlobalWindow()])),
        beam.ParDo(Lenient()),
    ],
    ids=str,
)
def test_a_function_moves_a_timestamp_back_as_in_beam_python(back: Any):
    pcoll = created(at("a", "00:01:00")) | back
    outputs = pcoll.pipeline.run().out_of(pcoll.edge)
    assert [(output.element.value, output.element.timestamp) for output in outputs] == [
        ("a", 59_000)
    ]


def test_what_is_moved_behind_the_watermark_is_late():
    stream = TestStream().advance_watermark_to("00:02:00").add_elements("a")
    moved = beam.Pipeline() | stream.advance_watermark_to_infinity()
    moved = moved | beam.Map(lambda _: beam.TimestampedValue(("k", 1), 30))
    assert values(moved | beam.WindowInto(beam.FixedWindows(60)) | beam.GroupByKey()) == []


def test_a_timestamp_is_moved_back_by_no_more_than_the_allowed_skew():
    def moved(to: str) -> list[Any]:
        pcoll = created(at("a", "00:01:00")) | beam.WithTimestamps(lambda _: to, "30 s")
        return [came.element.timestamp for came in pcoll.pipeline.run().out_of(pcoll.edge)]

    assert moved("00:00:30") == [30_000]
    with pytest.raises(PipelineError, match=r"minus the allowed skew, 30s"):
        moved("00:00:29.999")

    class Back(beam.DoFn[str, str]):
        allowed_timestamp_skew = "1 minute"

        def process(self, element: str):  # type: ignore[override, no-untyped-def]
            yield at(element, "00:00:00")

    assert values(created(at("a", "00:01:00")) | beam.ParDo(Back())) == ["a"]


def test_an_instant_that_cannot_be_read_names_the_transform():
    with pytest.raises(TransformError, match=r"'WithTimestamps\(.*\)/AddTimestamps' raised TimeT"):
        values(created("a") | beam.WithTimestamps(lambda _: "yesterday"))


Timers = beam.userstate.TimeDomain


class Buffering(beam.DoFn):
    """A function with state and a timer, as Beam's documentation writes it."""

    BUFFER = beam.userstate.BagStateSpec("buffer", beam.coders.StrUtf8Coder())
    EXPIRY = beam.userstate.TimerSpec("expiry", Timers.WATERMARK)

    def process(  # type: ignore[override]
        self,
        element: Any,
        buffer: Any = beam.DoFn.StateParam(BUFFER),  # noqa: B008
        expiry: Any = beam.DoFn.TimerParam(EXPIRY),  # noqa: B008
    ) -> Iterable[Any]:
        buffer.add(element)
        return []

    @beam.userstate.on_timer(EXPIRY)
    def expired(self, buffer: Any = beam.DoFn.StateParam(BUFFER)) -> Iterable[Any]:  # noqa: B008
        return list(buffer.read())


def refused(fn: Any) -> str:
    with pytest.raises(PipelineError) as refusal:
        _ = beam.Pipeline() | beam.Create([("k", 1)]) | "Buffer" >> beam.ParDo(fn)
    return str(refusal.value)


def test_a_plain_function_with_a_timer_or_a_finalizer_is_refused():
    def remind(pair: Any, timer: Any = beam.DoFn.TimerParam(Buffering.EXPIRY)) -> Any:  # noqa: B008
        return [pair]

    def save(pair: Any, finalizer: Any = beam.DoFn.BundleFinalizerParam) -> Any:
        return [pair]

    assert refused(remind).endswith(
        "remind asks for a timer in its parameter 'timer', and has none here; a DoFn may, in its "
        "process and in methods under @on_timer: write a class below DoFn and ParDo(...) of it"
    )
    assert refused(save).endswith(
        "save asks for the end of a commit in its parameter 'finalizer', and has none here; "
        "write what is to be done to finish_bundle"
    )


def test_a_function_of_pairs_may_ask_for_the_key():
    pairs = beam.Pipeline() | beam.Create([("a", 1)])
    assert values(pairs | beam.Map(lambda pair, key=beam.DoFn.KeyParam: key)) == ["a"]
