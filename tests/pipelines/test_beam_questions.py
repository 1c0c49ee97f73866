"""What programs of Beam ask of triggers, panes, pipelines, modules and combine functions."""

from typing import Any

import numpy as np
import pytest

import beamlike.beam as beam
from beamlike.beam.transforms import trigger, window
from beamlike.beam.utils import windowed_value


@pytest.mark.parametrize("host", ["memory", "local"])
def test_a_pane_has_the_arguments_of_beams_in_their_order(host: Any) -> None:
    pipeline = beam.Pipeline()
    pairs = pipeline | beam.Create([("tea", 1)])
    before = pairs | "Before" >> beam.Map(lambda _, pane=beam.DoFn.PaneInfoParam: pane)
    after = pairs | beam.GroupByKey() | beam.Map(lambda _, pane=beam.DoFn.PaneInfoParam: pane)
    result = pipeline.run(host=host)

    on_time = windowed_value.PaneInfo(True, True, windowed_value.PaneInfoTiming.ON_TIME, 0, 0)
    assert [came.element.value for it in (before, after) for came in result.out_of(it.edge)] == [
        windowed_value.PANE_INFO_UNKNOWN,
        on_time,
    ]
    assert isinstance(on_time, beam.PaneInfo)


@pytest.mark.parametrize("host", ["memory", "local"])
def test_the_last_instant_of_the_global_window_is_the_same_in_and_out(host: Any) -> None:
    last = window.GlobalWindow().max_timestamp()
    pipeline = beam.Pipeline()
    times = (
        pipeline
        | beam.Create([beam.TimestampedValue(("tea", 1), last)])
        | beam.GroupByKey()
        | beam.Map(lambda _, at=beam.DoFn.TimestampParam: at)
    )
    result = pipeline.run(host=host)
    assert [came.element.value for came in result.out_of(times.edge)] == [last]


def test_modules_show_what_is_in_them() -> None:
    assert vars(window)["FixedWindows"] is beam.FixedWindows
    assert vars(trigger)["AfterCount"] is beam.AfterCount


def test_a_pipeline_names_its_runner() -> None:
    assert type(beam.Pipeline().runner).__name__ == "DirectRunner"
    assert type(beam.Pipeline("SparkRunner").runner).__name__ == "SparkRunner"


def test_what_comes_before_the_first_element_is_refused() -> None:
    class Early(beam.DoFn):
        def start_bundle(self) -> Any:
            return [1]

        def process(self, element: Any) -> Any:
            yield element

    pipeline = beam.Pipeline()
    _ = pipeline | beam.Create([1]) | "Early" >> beam.ParDo(Early())
    with pytest.raises(RuntimeError, match=r"'Early': start_bundle gave \[1\], and nothing can"):
        pipeline.run()


def test_a_function_that_lists_arrays_gives_each_of_them() -> None:
    pipeline = beam.Pipeline()
    arrays = pipeline | beam.Create([3]) | beam.FlatMap(lambda size: np.arange(size))
    assert [int(came.element.value) for came in pipeline.run().out_of(arrays.edge)] == [0, 1, 2]
