"""Sessions that a grouping has merged are grouped again as they are.

Original: ``GroupByKeyTest.java`` of Beam, ``testWindowFnPostMerging``. Since the change "Remove
InvalidWindows from Java SDK, instead track already merged bit" (apache/beam pull request 14059) a
second grouping of merged windows is allowed; before, it was refused.
"""

import beamlike.beam as beam
from beamlike import Sessions
from beamlike.beam.transforms.userstate import ReadModifyWriteStateSpec
from beamlike.scio import ScioContext
from beamlike.testing import TestStream, contain_in_any_order, emit_exactly, expect, on_time_pane

FOUR_MS = "4 ms"


def grouped(sc: ScioContext) -> beam.PCollection[tuple[str, list[int]]]:
    """The original's elements, in sessions that four milliseconds end."""
    stream = (
        TestStream()
        .add_elements_at_time(1, ("foo", 1))
        .add_elements_at_time(4, ("foo", 4))
        .add_elements_at_time(3, ("bar", 3))
        .add_elements_at_time(9, ("foo", 9))
        .advance_watermark_to_infinity()
    )
    windowed = sc.test_stream(stream) | beam.WindowInto(beam.Sessions(FOUR_MS))
    return windowed | "First grouping" >> beam.GroupByKey()


def under_one_key(
    lists: beam.PCollection[tuple[str, list[int]]],
) -> beam.PCollection[tuple[str, int]]:
    return (
        lists
        | "Drop keys" >> beam.Values()
        | "Explode iterables" >> beam.FlatMap(lambda values: values)
        | "Map to same key" >> beam.WithKeys("bizzle")
    )


def test_the_second_grouping_has_the_windows_of_the_first(sc):
    lists = grouped(sc)
    assert lists.windowing.window_fn == Sessions(FOUR_MS)
    assert lists.windowing.already_merged
    expect(lists).to(
        emit_exactly(
            on_time_pane("foo", [1, 4], 1, 8, is_last=True),
            on_time_pane("foo", [9], 9, 13, is_last=True),
            on_time_pane("bar", [3], 3, 7, is_last=True),
        )
    )
    # [1, 8) and [3, 7) overlap and now have one key, and yet they stay apart.
    expect(under_one_key(lists) | "Summed grouping" >> beam.CombinePerKey(sum)).to(
        emit_exactly(
            on_time_pane("bizzle", 5, 1, 8, is_last=True),
            on_time_pane("bizzle", 9, 9, 13, is_last=True),
            on_time_pane("bizzle", 3, 3, 7, is_last=True),
        )
    )


def test_a_third_grouping_has_them_too(sc):
    sums = under_one_key(grouped(sc)) | "Summed grouping" >> beam.CombinePerKey(sum)
    expect(sums | "Count again" >> beam.combiners.Count.PerKey()).to(
        emit_exactly(
            on_time_pane("bizzle", 1, 1, 8, is_last=True),
            on_time_pane("bizzle", 1, 9, 13, is_last=True),
            on_time_pane("bizzle", 1, 3, 7, is_last=True),
        )
    )


def test_windowed_anew_they_merge_by_the_times_of_the_panes(sc):
    anew = under_one_key(grouped(sc)) | "Anew" >> beam.WindowInto(beam.Sessions(FOUR_MS))
    expect(anew | "Summed grouping" >> beam.CombinePerKey(sum)).to(
        emit_exactly(
            # The panes are stamped with the ends of their windows: 7, 6 and 12.
            on_time_pane("bizzle", 8, 6, 11, is_last=True),
            on_time_pane("bizzle", 9, 12, 16, is_last=True),
        )
    )


class Numbered(beam.DoFn):
    NUMBER = ReadModifyWriteStateSpec("number", beam.coders.VarIntCoder())

    def process(
        self,
        pair,
        timestamp=beam.DoFn.TimestampParam,
        number=beam.DoFn.StateParam(NUMBER),  # noqa: B008
    ):
        number.write((number.read() or 0) + 1)
        yield number.read(), pair[1], timestamp


def test_a_function_with_a_memory_may_follow(sc):
    shown = under_one_key(grouped(sc)) | beam.ParDo(Numbered())
    expect(shown | beam.Map(lambda it, window=beam.DoFn.WindowParam: (*it, str(window)))).to(
        contain_in_any_order(
            [
                (1, 1, 0.007, "[0.001, 0.008)"),
                (2, 4, 0.007, "[0.001, 0.008)"),
                (1, 9, 0.012, "[0.009, 0.013)"),
                (1, 3, 0.006, "[0.003, 0.007)"),
            ]
        )
    )


def test_remerged_they_merge_by_the_windows_that_they_have(sc):
    again = under_one_key(grouped(sc)) | beam.Remerge()
    expect(again | "Summed grouping" >> beam.CombinePerKey(sum)).to(
        emit_exactly(
            on_time_pane("bizzle", 8, 1, 8, is_last=True),
            on_time_pane("bizzle", 9, 9, 13, is_last=True),
        )
    )
