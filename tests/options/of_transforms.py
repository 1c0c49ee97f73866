"""Options of transforms, Scio's verbs and test harnesses, in runs that differ in one of them."""

from functools import partial
from typing import Any, Final

import beamlike as bl
import beamlike.beam as beam
from beamlike.scio import ScioContext, SideOutput, WindowOptions
from tests.options.playing import Differs, beamed, came, scio

LATE: Final[dict[str, Any]] = {"accumulation_mode": "discarding", "allowed_lateness": 3600}
PAIRS: Final = (("a", 1), ("a", 3), ("b", 2))
WORDS: Final = ("tea: 3", "salt: 1")


def on_words(transform: Any) -> Any:
    return scio(lambda words: words | transform, *WORDS)


def grouped_by(**option: Any) -> Any:
    """Counts of pairs, windowed with an option more than a trigger."""
    parts = {"trigger": beam.AfterWatermark(late=beam.AfterCount(1)), **LATE} | option
    windowfn = parts.pop("windowfn", beam.FixedWindows(3600))
    return beamed(
        lambda numbers: (
            numbers
            | beam.Map(lambda number: ("key", number))
            | beam.WindowInto(windowfn, **parts)
            | beam.GroupByKey()
        )
    )


def windowing(**option: Any) -> Any:
    """The windowing that `beam.WindowInto` sets."""
    numbers = beam.Pipeline() | beam.Create([1])
    return (numbers | beam.WindowInto(beam.FixedWindows(60), **LATE, **option)).windowing


def verb(name: str, *args: Any, values: tuple[Any, ...] = (1, 3, 2), **option: Any) -> Differs:
    """Two runs of a verb of Scio."""

    def run(**options: Any) -> Any:
        return scio(lambda them: getattr(them, name)(*args, **options), *values)

    return Differs(run, partial(run, **option))


def splits(*weights: Any) -> Any:
    sc = ScioContext()
    parts = sc.parallelize([*range(20)]).random_split(*weights, seed=1)
    return [came(sc.pipeline, part) for part in parts]


def partitions(*args: Any) -> Any:
    sc = ScioContext()
    return [came(sc.pipeline, part) for part in sc.parallelize([1, 2]).partition(*args)]


def singleton(*default: Any) -> Any:
    sc = ScioContext()
    side = sc.empty().as_singleton_side_input(*default)
    seen = sc.parallelize([1]).with_side_inputs(side).map(lambda n, see: (n, see(side)))
    return came(sc.pipeline, seen.to_scollection())


WEEK: Final = WindowOptions(allowed_lateness="1 day", accumulation_mode="discarding")


def windows_of(name: str, *args: Any, **option: Any) -> Differs:
    """The windowing that a verb sets, with and without an option."""

    def run(**options: Any) -> Any:
        return getattr(ScioContext().parallelize([1]), name)(*args, **options).windowing

    return Differs(run, partial(run, **option))


MODE: Final[dict[str, Any]] = {"accumulation_mode": "discarding", "allowed_lateness": 0}
OPTIONS: Final = beam.Pipeline()


def hours(options: WindowOptions) -> Any:
    return ScioContext().parallelize([1]).with_fixed_windows("1 hour", options=options).windowing


def greatest(number: int) -> int:
    return -number


RUNS: Final[dict[str, Differs]] = {
    "beam.WindowInto.windowfn": Differs(
        grouped_by, lambda: grouped_by(windowfn=beam.FixedWindows(60))
    ),
    "beam.WindowInto.trigger": Differs(
        grouped_by, lambda: grouped_by(trigger=beam.Repeatedly(beam.AfterCount(1)))
    ),
    "beam.WindowInto.accumulation_mode": Differs(
        lambda: grouped_by(accumulation_mode=None), grouped_by
    ),
    "beam.WindowInto.timestamp_combiner": Differs(
        grouped_by, lambda: grouped_by(timestamp_combiner="earliest")
    ),
    "beam.WindowInto.closing_behavior": Differs(
        lambda: windowing(), lambda: windowing(closing_behavior="fire_always")
    ),
    "beam.WindowInto.on_time_behavior": Differs(
        partial(grouped_by, trigger=beam.AfterWatermark(beam.AfterCount(1), beam.AfterCount(1))),
        partial(
            grouped_by,
            trigger=beam.AfterWatermark(beam.AfterCount(1), beam.AfterCount(1)),
            on_time_behavior="fire_if_non_empty",
        ),
    ),
    "beam.WithTimestamps.allowed_timestamp_skew": Differs(
        lambda: beamed(lambda numbers: numbers | beam.WithTimestamps(lambda n: n)),
        lambda: beamed(
            lambda numbers: numbers | beam.WithTimestamps(lambda n: n, allowed_timestamp_skew=7200)
        ),
    ),
    "beam.Timestamp.seconds": Differs(
        lambda: beam.Timestamp(micros=1), lambda: beam.Timestamp(seconds=1, micros=1)
    ),
    "scio.SCollection.fold.op": verb("fold", 0, op=max),
    "scio.SCollection.fold_by_key.op": verb("fold_by_key", 0, values=PAIRS, op=max),
    "scio.SCollection.sum.semigroup": verb("sum", semigroup=max),
    "scio.SCollection.sum_by_key.semigroup": verb("sum_by_key", values=PAIRS, semigroup=max),
    "scio.SCollection.min.key": verb("min", key=greatest),
    "scio.SCollection.max.key": verb("max", key=greatest),
    "scio.SCollection.min_by_key.key": verb("min_by_key", values=PAIRS, key=greatest),
    "scio.SCollection.max_by_key.key": verb("max_by_key", values=PAIRS, key=greatest),
    "scio.SCollection.top.key": verb("top", 1, key=greatest),
    "scio.SCollection.top.reverse": verb("top", 1, reverse=True),
    "scio.SCollection.top_by_key.key": verb("top_by_key", 1, values=PAIRS, key=greatest),
    "scio.SCollection.top_by_key.reverse": verb("top_by_key", 1, values=PAIRS, reverse=True),
    "scio.SCollection.aggregate.seq_op": Differs(
        lambda: scio(lambda numbers: numbers.aggregate(0), 1, 2),
        lambda: scio(lambda numbers: numbers.aggregate(0, seq_op=max, comb_op=max), 1, 2),
    ),
    "scio.SCollection.aggregate.comb_op": Differs(
        lambda: scio(lambda numbers: numbers.aggregate(0, seq_op=max), 1, 2),
        lambda: scio(lambda numbers: numbers.aggregate(0, seq_op=max, comb_op=max), 1, 2),
    ),
    "scio.SCollection.aggregate_by_key.seq_op": Differs(
        lambda: scio(lambda numbers: numbers.aggregate_by_key(0), *PAIRS),
        lambda: scio(lambda numbers: numbers.aggregate_by_key(0, seq_op=max, comb_op=max), *PAIRS),
    ),
    "scio.SCollection.aggregate_by_key.comb_op": Differs(
        lambda: scio(lambda numbers: numbers.aggregate_by_key(0, seq_op=max), *PAIRS),
        lambda: scio(lambda numbers: numbers.aggregate_by_key(0, seq_op=max, comb_op=max), *PAIRS),
    ),
    "scio.SCollection.count_approx_distinct.error": verb("count_approx_distinct", error=2.0),
    "scio.SCollection.count_approx_distinct_by_key.error": verb(
        "count_approx_distinct_by_key", values=PAIRS, error=2.0
    ),
    "scio.SCollection.as_singleton_side_input.default_value": Differs(
        singleton, lambda: singleton(7)
    ),
    "scio.SCollection.random_split.weight_b": Differs(
        lambda: splits(0.5), lambda: splits(0.3, 0.3)
    ),
    "scio.SCollection.partition.fn": Differs(
        lambda: partitions(2), lambda: partitions(2, lambda n: 0)
    ),
    "scio.SCollection.sample_by_key.sample_size": Differs(
        lambda: scio(lambda numbers: numbers.sample_by_key(), *PAIRS),
        lambda: scio(lambda numbers: numbers.sample_by_key(sample_size=1), *PAIRS),
    ),
    "scio.SCollection.sample_by_key.seed": Differs(
        lambda: scio(
            lambda numbers: numbers.sample_by_key(
                fractions={"a": 0.5}, seed=1, with_replacement=False
            ),
            *[("a", n) for n in range(9)],
        ),
        lambda: scio(
            lambda numbers: numbers.sample_by_key(
                fractions={"a": 0.5}, seed=2, with_replacement=False
            ),
            *[("a", n) for n in range(9)],
        ),
    ),
    "scio.ScioContext.parallelize_timestamped.timestamps": Differs(
        lambda: ScioContext().parallelize_timestamped([1]),
        lambda: ScioContext().parallelize_timestamped([1], timestamps=[0]),
    ),
    "scio.ScioContext.parallelize_timestamped.name": Differs(
        lambda: ScioContext().parallelize_timestamped([1], [0]).edge.node.label,
        lambda: ScioContext().parallelize_timestamped([1], [0], name="other").edge.node.label,
    ),
    "scio.ScioContext.parallelize.name": Differs(
        lambda: ScioContext().parallelize([1]).edge.node.label,
        lambda: ScioContext().parallelize([1], name="other").edge.node.label,
    ),
    "scio.ScioContext.pipeline": Differs(
        lambda: ScioContext().pipeline.options is OPTIONS.options,
        lambda: ScioContext(pipeline=OPTIONS).pipeline.options is OPTIONS.options,
    ),
    "scio.SideOutput.name": Differs(
        lambda: SideOutput().name == "late", lambda: SideOutput(name="late").name == "late"
    ),
    **{
        f"scio.SCollection.{name}.options": windows_of(name, *args, options=WEEK)
        for name, args in {
            "window_by_days": (),
            "window_by_weeks": (),
            "window_by_months": (),
            "window_by_years": (),
            "with_fixed_windows": ("1 hour",),
            "with_global_window": (),
            "with_session_windows": ("1 hour",),
            "with_sliding_windows": ("1 hour",),
            "with_window_fn": (bl.FixedWindows("1 hour"),),
        }.items()
    },
    **{
        f"scio.SCollection.window_by_{unit}.number": windows_of(f"window_by_{unit}", number=2)
        for unit in ("days", "weeks", "months", "years")
    },
    "scio.SCollection.window_by_weeks.start_day_of_week": windows_of(
        "window_by_weeks", start_day_of_week=3
    ),
    "scio.SCollection.with_fixed_windows.offset": windows_of(
        "with_fixed_windows", "1 hour", offset="1 minute"
    ),
    "scio.SCollection.with_sliding_windows.period": windows_of(
        "with_sliding_windows", "1 hour", period="2 minutes"
    ),
    "scio.SCollection.with_sliding_windows.offset": windows_of(
        "with_sliding_windows", "1 hour", "2 minutes", offset="1 minute"
    ),
    **{
        f"scio.WindowOptions.{name}": Differs(
            partial(hours, WindowOptions(**MODE)),
            partial(hours, WindowOptions(**(MODE | {name: value}))),
        )
        for name, value in {
            "trigger": beam.Repeatedly(beam.AfterCount(1)),
            "accumulation_mode": "accumulating",
            "allowed_lateness": "1 day",
            "closing_behavior": "fire_always",
            "timestamp_combiner": "earliest",
            "on_time_behavior": "fire_if_non_empty",
        }.items()
    },
}
