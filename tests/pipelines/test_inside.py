"""The groupings of a pipeline that has run: seen, explained, compared and asked one by one."""

import os
from typing import Any

import pytest

from beamlike.api.pipelines import combiners
from beamlike.api.pipelines.elements import Create, Map
from beamlike.api.pipelines.groups import CombinePerKey, GroupByKey
from beamlike.api.pipelines.pipeline import Pipeline
from beamlike.api.pipelines.result import PipelineResult
from beamlike.api.pipelines.transform import PTransform
from beamlike.api.pipelines.windowing import WindowInto
from beamlike.errors import TestStreamError
from beamlike.model.combine import Count
from beamlike.model.sessions import Sessions
from beamlike.model.triggers import AfterCount, AfterWatermark
from beamlike.model.windowfns import FixedWindows
from beamlike.runtime.graph.outputs import PipelineRun
from beamlike.testing import (
    PaneAssertionError,
    TestPipeline,
    TestStream,
    compare,
    contain_value,
    dropped,
    early_pane,
    emit_exactly,
    expect,
    in_on_time_pane,
    inside,
    late_pane,
    on_time_pane,
    run_with_context,
)
from tests.support.pipelines.counted_words import word_counts
from tests.support.pipelines.results_of_runs import events_inside

FIRST = ("00:00:00", "00:01:00")

HERE = os.getpid()

VISITS = (
    TestStream()
    .add_elements_at_time("00:00:00", ("ann", "home"))
    .add_elements_at_time("00:04:00", ("ann", "shop"), ("bob", "home"))
    .advance_watermark_to("00:20:00")
    .add_elements_at_time("00:08:00", ("ann", "cart"))  # late
    .advance_watermark_to_infinity()
)


def sessions_and_hours(pipeline: Pipeline) -> Any:
    """Sessions of visitors, and how many of them there are: a grouping of the panes of another."""
    visits = pipeline | "Visits" >> VISITS
    sessions = (
        visits
        | "Sessions"
        >> WindowInto(
            Sessions("10 minutes"),
            trigger=AfterWatermark(late=AfterCount(1)),
            allowed_lateness="30 minutes",
            accumulation_mode="accumulating",
        )
        | "By user" >> GroupByKey()
    )
    # Where it is made shows in the value: here, or in another process.
    return (
        sessions
        | "Place" >> Map(lambda pair: ("here" if os.getpid() == HERE else "elsewhere", pair[0]))
        | "Hours" >> WindowInto(FixedWindows("1 hour"), trigger=AfterWatermark(late=AfterCount(1)))
        | "Per place" >> CombinePerKey(Count())
    )


class Part(PTransform[Any, Any]):
    """A grouping that is part of another transform."""

    def __init__(self, name: str) -> None:
        self._name = name

    def expand(self, given: Any) -> Any:
        return given | self._name >> CombinePerKey(sum)


def ran(build: Any, **options: Any) -> PipelineResult:
    pipeline = Pipeline()
    build(pipeline)
    pipeline.keep()
    return pipeline.run(**options)


# -- which grouping ---------------------------------------------------------------------------


def test_the_only_grouping_needs_no_name() -> None:
    pipeline = TestPipeline()
    counts = word_counts(pipeline)
    result = pipeline.run()

    whole = emit_exactly(
        early_pane("foo", 2, *FIRST, is_last=False, step=1),
        on_time_pane("foo", 2, *FIRST, index=1, nonspeculative_index=0, is_last=False, step=2),
        on_time_pane("bar", 1, *FIRST, is_last=False, step=2),
        late_pane("bar", 2, *FIRST, index=1, is_last=False, step=3),
        dropped(
            *("foo", "foo"),
            at="00:00:50",
            window=FIRST,
            reason="expired",
            missed_by="30 s 1 ms",
            step=5,
        ),
    )
    for of in (result, result.outputs, pipeline):
        inside(of).should(whole)
    assert inside(result, counts) == inside(result)


def test_a_context_of_scio_knows_what_happened_in_it() -> None:
    with run_with_context() as sc:
        sc.parallelize(["a", "b", "a"]).count_by_value()

    assert [(pane.key, pane.effect.value) for pane in inside(sc).panes] == [("a", 2), ("b", 1)]


@pytest.mark.parametrize(
    "counted",
    [
        lambda words: words.count_by_value(),
        lambda words: words.apply_transform(combiners.Count.PerElement()),
    ],
    ids=["Scio's verb", "Beam's transform"],
)
def test_what_is_counted_by_its_value_is_shown_as_the_value_that_it_has(counted: Any) -> None:
    words = TestStream().add_elements_at_time(5, "a").advance_watermark_to_infinity()
    with run_with_context() as sc:
        counted(sc.test_stream(words).with_fixed_windows("1 minute"))

    message = """\
FixedWindows(1m), DefaultTrigger(), discarding, allowed lateness 0ms

key 'a'
  step 0: an element arrives, before any watermark
    - 'a' at 00:00:00.005 opens [00:00:00, 00:01:00).
    - Nothing comes out yet: [00:00:00, 00:01:00) waits for the watermark to reach 00:01:00.
  step 1: the watermark moves to infinity
    - [00:00:00, 00:01:00) emits its last pane, ON_TIME 0: 1, by expiry of the window: the watermark
      has reached 00:01:00, and there is no allowed lateness."""
    assert str(inside(sc).explain()) == message


@pytest.mark.parametrize("name", ["By user", "user", "r"])
def test_of_several_one_is_named_by_its_label_or_the_end_of_it(name: str) -> None:
    result = ran(sessions_and_hours)

    assert [node.label for node in result.outputs.groupings] == ["By user", "Per place"]
    assert {output.key for output in inside(result, name).panes} == {"ann", "bob"}


def test_the_name_of_a_part_comes_before_an_ending_of_letters() -> None:
    def build(pipeline: Pipeline) -> None:
        pairs = pipeline | Create([("a", 1)])
        pairs | "Recount" >> CombinePerKey(sum)
        pairs | "Words" >> Part("Count")
        pairs | "Lines" >> Part("Count")
        pairs | "Letters" >> Part("A count")

    result = ran(build)

    labels = [node.label for node in result.outputs.groupings]
    assert labels == ["Recount", "Words/Count", "Lines/Count", "Letters/A count"]
    assert inside(result, "ords/Count") == inside(result, "Words/Count")
    assert inside(result, "A count") == inside(result, "Letters/A count")
    with pytest.raises(TestStreamError) as refused:
        inside(result, "Count")
    assert str(refused.value) == (
        "inside: 2 groupings end with 'Count': 'Words/Count', 'Lines/Count'; write more of the "
        "label"
    )


def test_what_is_not_said_clearly_is_refused_with_all_labels_in_order() -> None:
    pipeline = Pipeline()
    sessions_and_hours(pipeline)
    visits = pipeline | "Others" >> VISITS
    pipeline.keep()
    result = pipeline.run()
    both = "'By user', 'Per place'"

    refusals = {
        None: f"inside: name one of 2 groupings: {both}",
        "By day": f"inside: there is no grouping 'By day'; there are {both}",
        7: "inside: a grouping is named by its label or its collection, got 7; the labels are "
        f"{both}",
        visits: "inside: <PCollection of 'Others'> is not made of the panes of a grouping element "
        f"by element; the groupings are {both}",
    }
    for name, refusal in refusals.items():
        with pytest.raises(TestStreamError) as refused:
            inside(result, name)
        assert str(refused.value) == refusal


def test_what_no_one_wrote_down_is_refused() -> None:
    unrun, nothing = Pipeline(), PipelineResult(PipelineRun({}, ()))
    for of, words in (
        (unrun, "inside: the pipeline has not run; call run(), or leave its block"),
        (7, "inside needs what Pipeline.run returned, or a pipeline that has run, got 7"),
        (
            nothing,
            "inside: there is no record of a grouping of this pipeline: it has none, or ended "
            "with an error, or reads or writes DataFrames; give it test streams or created "
            "elements",
        ),
    ):
        with pytest.raises(TestStreamError) as refused:
            inside(of)
        assert str(refused.value) == words


# -- what can be done with it -----------------------------------------------------------------


def test_a_later_grouping_has_its_own_steps_of_what_reached_it() -> None:
    message = str(inside(ran(sessions_and_hours), "Per place").explain())

    assert (
        message
        == """\
FixedWindows(1h), AfterWatermark(late=AfterCount(1)), accumulating, allowed lateness 30m

key 'here'
  step 0: 2 elements arrive, before any watermark
    - 'ann' at 00:13:59.999 and 'bob' at 00:13:59.999 open [00:00:00, 01:00:00).
    - Nothing comes out yet: [00:00:00, 01:00:00) waits for the watermark to reach 01:00:00.
  step 1: the watermark moves to 00:20:00; nothing is due
  step 2: an element arrives, the watermark at 00:20:00
    - 'ann' at 00:17:59.999 goes into [00:00:00, 01:00:00).
    - Nothing comes out yet: [00:00:00, 01:00:00) waits for the watermark to reach 01:00:00.
  step 3: the watermark moves to infinity
    - [00:00:00, 01:00:00) emits its last pane, ON_TIME 0: 3, by expiry of the window: the watermark
      has reached 01:30:00, its end plus the allowed lateness of 30m."""
    )


def test_a_grouping_is_compared_with_itself_under_other_strategies() -> None:
    users = inside(ran(sessions_and_hours), "By user")

    message = str(compare(users, {"as it is": {}, "shorter": {"window": Sessions("3 minutes")}}))

    assert (
        "\n".join([line.rstrip() for line in message.splitlines()])
        == """\
as it is: Sessions(10m), AfterWatermark(late=AfterCount(1)), accumulating, allowed lateness 30m
shorter: the same with window=Sessions(3m)

   step  key    window                as it is                        shorter
!  2     'ann'  [00:00:00, 00:03:00)  -                               ON_TIME 0: ['home']
!  2     'ann'  [00:04:00, 00:07:00)  -                               ON_TIME 0: ['shop']
!  2     'bob'  [00:04:00, 00:07:00)  -                               ON_TIME 0: ['home']
!  2     'ann'  [00:00:00, 00:14:00)  ON_TIME 0: ['home', 'shop']     -
!  2     'bob'  [00:04:00, 00:14:00)  ON_TIME 0: ['home']             -
!  3     'ann'  [00:00:00, 00:18:00)  LATE 0: ['home', 'shop',        -
                                      'cart']
!  3     'ann'  [00:08:00, 00:11:00)  -                               LATE 0: ['cart']

with shorter: 1 more pane, 3 panes elsewhere"""
    )


def lengths_of_sessions(pipeline: Pipeline) -> None:
    """A grouping of elements in the sessions that another one has made."""
    sessions = (
        pipeline
        | "Visits" >> VISITS
        | WindowInto(Sessions("10 minutes"))
        | "By user" >> GroupByKey()
        | "Length" >> Map(lambda pair: ("all", len(pair[1])))
    )
    sessions | "Lengths" >> GroupByKey()


CARRIED = """\
* element   o behind the watermark   x dropped   [--) window   | watermark

'all' key               00:00:00          00:05:00           00:10:00           00:15:00
                        +-----------------+------------------+------------------+------------------+
  0 + 2, 1                                                                  *
      opened            [--------------------------------------------------)
      opened                           [-----------------------------------)
  1 watermark                                                                             00:20:00 |
      ON_TIME #0 last   [--------------------------------------------------) [2]                   |
                        by expiry of the window
      ON_TIME #0 last                  [-----------------------------------) [1]                   |
                        by expiry of the window
  2 watermark                                                                             infinity >
""".rstrip("\n")


def test_windows_that_were_carried_there_are_shown_as_they_came() -> None:
    assert inside(ran(lengths_of_sessions), "Lengths").timeline() == CARRIED


def test_windows_that_were_carried_there_are_not_assigned_anew() -> None:
    lengths = inside(ran(lengths_of_sessions), "Lengths")
    variants: dict[str, dict[str, Any]] = {"as it is": {}, "later": {"allowed_lateness": "1 h"}}

    with pytest.raises(TestStreamError) as refused:
        compare(lengths, variants)

    assert str(refused.value) == (
        "the elements of this grouping come in windows that its window function does not give "
        "them anew; compare the grouping that made them"
    )


def test_pictures_and_pages_take_it(tmp_path: Any) -> None:
    users = inside(ran(sessions_and_hours), "By user")

    assert users.figure("ann").text == (
        "key 'ann'. 3 elements, 1 late and taken, 0 dropped; 3 windows, 2 panes. Pane on time #0 "
        "of [00:00:00, 00:14:00): ['home', 'shop']. Pane late #0 of [00:00:00, 00:18:00): "
        "['home', 'shop', 'cart']. 2 windows merged into [00:00:00, 00:14:00). 2 windows merged "
        "into [00:00:00, 00:18:00). Windowing: Sessions(10m), AfterWatermark(late=AfterCount(1)), "
        "accumulating, allowed lateness 30m."
    )
    assert "Sessions(10m)" in users.save_page(tmp_path / "users.html").read_text(encoding="utf-8")


def test_a_matcher_that_is_given_a_collection_can_see_its_grouping() -> None:
    pipeline = TestPipeline()
    counts = word_counts(pipeline)
    words = counts | "Words alone" >> Map(lambda pair: pair[0])
    seen = []

    class Look:
        def failure(self, results: Any, *, negated: bool) -> None:
            seen.append((results.timeline(), str(results.explain("foo"))))

    expect(words).to(Look())
    expect(counts).to(Look())
    pipeline.run()

    own = inside(pipeline)
    assert seen == [(own.timeline(), str(own.explain("foo")))] * 2


def test_a_collection_that_no_grouping_made_has_nothing_to_see() -> None:
    pipeline = TestPipeline()
    numbers = pipeline | Create([1])
    refusals = []

    class Look:
        def failure(self, results: Any, *, negated: bool) -> None:
            for verb in (results.timeline, results.figure, results.explain):
                with pytest.raises(TestStreamError) as refused:
                    verb()
                refusals.append(str(refused.value))

    expect(numbers).to(Look())
    pipeline.run()

    words = (
        "only a grouping can be shown step by step, and the elements of 'Create' are not known to "
        'come from one; name one of the pipeline: inside(result, "its label")'
    )
    assert refusals == [words] * 3


ELSEWHERE = """\
* element   o behind the watermark   x dropped   [--) window   | watermark

'elsewhere' key         00:00:00    00:10:00     00:20:00    00:30:00     00:40:00    00:50:00
                        +-----------+------------+-----------+------------+-----------+------------+
  0 + 'ann', 'bob'                       *
      opened            [-------------------------------------------------------------------------)
  1 watermark                                    | 00:20:00
  2 + 'ann'                                   o  |
  3 watermark                                                                             infinity >
      ON_TIME #0 last   [-------------------------------------------------------------------------)
                        3 by expiry of the window"""


# -- on Spark ---------------------------------------------------------------------------------


@pytest.mark.nightly
@pytest.mark.spark
def test_of_a_run_on_spark_it_is_what_spark_did(spark: Any) -> None:
    pipeline = TestPipeline("spark", spark=spark)
    totals = sessions_and_hours(pipeline)
    expect(totals).to(in_on_time_pane("00:00:00", "01:00:00", contain_value(("here", 3))))
    with pytest.raises(PaneAssertionError) as failed:
        pipeline.run()

    hours = inside(pipeline, "Per place")
    assert hours.timeline() == ELSEWHERE
    assert f"timeline of 'Per place', by its own steps:\n{ELSEWHERE}" in str(failed.value)
    users = inside(pipeline, "By user")
    here = inside(ran(sessions_and_hours), "By user")
    assert events_inside(users.run) == events_inside(here.run)
    assert str(users.explain()) == str(here.explain())
